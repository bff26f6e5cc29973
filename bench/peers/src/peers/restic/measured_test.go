// Measurements that restic's own benchmarks do not have: a merge without the making of what is merged, the same with every index twice,
// and the index file that BenchmarkDecodeIndex decodes. They are put beside its tests and use what those make.
package index_test

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/restic/restic/internal/repository/index"
	"github.com/restic/restic/internal/restic"
	rtest "github.com/restic/restic/internal/test"
)

func cpuSeconds() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	seconds := func(time syscall.Timeval) float64 { return float64(time.Sec) + float64(time.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func heapBytes() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// Merges 1,000 indexes of 1,000 packs each, as BenchmarkMasterIndexMerge does, each so many times.
func measureMerge(t *testing.T, name string, times int) {
	mIdx := index.NewMasterIndex()
	count := 0
	for i := 0; i < times; i++ {
		rng := rand.New(rand.NewSource(0))
		for j := 0; j < 1000; j++ {
			idx, _ := createRandomIndex(rng, 1000)
			count += int(idx.Len(restic.DataBlob))
			mIdx.Insert(idx)
		}
	}
	// What making them left behind goes back to the system, and does not count.
	debug.FreeOSMemory()
	fmt.Println("memory from here")
	cpu, begin := cpuSeconds(), time.Now()
	index.TestMergeIndex(t, mIdx)
	seconds := time.Since(begin).Seconds()
	cpu = cpuSeconds() - cpu
	fmt.Println("ready")
	merged := 0
	for range mIdx.Values() {
		merged++
	}
	rtest.Equals(t, count, merged*times)
	note := fmt.Sprintf("; %.1f B an entry stay", heapBytes()/float64(merged))
	fmt.Printf("measured\trestic: %s\t\t%s\t%.9f\t%d\t%.6f\n", name, note, seconds, count, cpu)
	runtime.KeepAlive(mIdx)
}

func TestMeasuredMerge(t *testing.T) {
	measureMerge(t, "merge of 1,000 indexes of 1,000 packs", 1)
}

func TestMeasuredMergeTwice(t *testing.T) {
	measureMerge(t, "the same with every index twice", 2)
}

func TestMeasuredJSON(t *testing.T) {
	benchmarkIndexJSONOnce.Do(initBenchmarkIndexJSON)
	rtest.OK(t, os.WriteFile(os.Getenv("MEASURED_JSON"), benchmarkIndexJSON, 0o600))
	fmt.Println("ready")
}
