"""Prints the rows of a Parquet, Arrow or CSV file as JSON, one a line, as each reader sees them.

Input: the reader and the path. Output: rows, with keys in the order of the columns, and times in milliseconds
since 1970. Does not know what the columns mean.
"""
import json
import sys

reader, path = sys.argv[1:]


def with_pyarrow(table):
    import pyarrow
    table.validate(full=True)
    for at, field in enumerate(table.schema):
        if pyarrow.types.is_timestamp(field.type):
            assert str(field.type) == "timestamp[ms, tz=UTC]", field.type
            table = table.set_column(at, field.name, table.column(at).cast(pyarrow.int64()))
    return table.to_pylist()


def check_parquet(file):
    """Checks what no reader needs for all rows: where pages are, and the ranges of numbers."""
    import pyarrow.compute
    with open(path, "rb") as opened:
        content = opened.read()
    end = 4
    for group in range(file.num_row_groups):
        described, rows = file.metadata.row_group(group), file.read_row_group(group)
        assert described.num_rows == rows.num_rows
        for number in range(described.num_columns):
            column = described.column(number)
            begin = column.dictionary_page_offset or column.data_page_offset
            assert begin == end, (column, end)
            end = begin + column.total_compressed_size
            # The kind of a page stands at its beginning: 0 is data, 2 (written as 4) is a dictionary.
            assert content[column.data_page_offset:][:2] == b"\x15\x00", column
            assert not column.has_dictionary_page or content[begin:][:2] == b"\x15\x04", column
            if column.physical_type == "INT64":
                values = rows.column(column.path_in_schema)
                range_of = pyarrow.compute.min_max(values).as_py()
                assert column.statistics.null_count == values.null_count, column
                assert column.statistics.has_min_max == (values.null_count < len(values)), column
                found = {"min": column.statistics.min, "max": column.statistics.max}
                assert found == range_of or not column.statistics.has_min_max, (found, range_of)


def with_polars(frame):
    import polars
    times = [name for name, kind in frame.schema.items() if isinstance(kind, polars.Datetime)]
    assert all(frame.schema[name] == polars.Datetime("ms", "UTC") for name in times), frame.schema
    return frame.with_columns(polars.col(times).cast(polars.Int64)).to_dicts()


def with_duckdb():
    import duckdb
    source = duckdb.connect().read_parquet(path)
    columns = [
        f'epoch_ms("{name}") as "{name}"' if str(kind) == "TIMESTAMP WITH TIME ZONE" else f'"{name}"'
        for name, kind in zip(source.columns, source.types)
    ]
    return [dict(zip(source.columns, row)) for row in source.project(", ".join(columns)).fetchall()]


if reader == "duckdb":
    rows = with_duckdb()
elif reader == "polars":
    import polars
    is_parquet = path.endswith(".parquet")
    rows = with_polars(polars.read_parquet(path) if is_parquet else polars.read_ipc(path))
elif reader == "csv":
    import csv
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
else:
    import pyarrow.feather
    import pyarrow.parquet
    if path.endswith(".parquet"):
        check_parquet(pyarrow.parquet.ParquetFile(path))
        rows = with_pyarrow(pyarrow.parquet.read_table(path))
    else:
        rows = with_pyarrow(pyarrow.feather.read_table(path))
for row in rows:
    print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
