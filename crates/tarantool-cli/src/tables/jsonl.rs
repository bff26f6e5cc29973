//! JSON Lines: each tuple as `cat` prints it, an object with names, or an array if the space has no format.

use super::table::Table;
use super::text_file::TextFile;
use anyhow::Result;
use tarantool::SpaceTuples;
use tarantool::msgpack::Reader;
use tarantool::text::{JsonStyle, JsonWriter, put_json_text};
use work::Progress;

/// Writes a space into a new file.
///
/// # Errors
/// Damage; the disk.
pub(super) fn write(
    mut file: TextFile,
    table: &Table,
    rows: &SpaceTuples,
    style: JsonStyle,
    progress: &dyn Progress,
) -> Result<()> {
    let path = file.path().to_owned();
    let mut values = JsonWriter::new(style);
    let keys: Vec<Vec<u8>> = table
        .columns
        .iter()
        .map(|name| {
            let mut key = Vec::new();
            put_json_text(name, &mut key);
            key.push(b':');
            key
        })
        .collect();
    rows.each(|tuple| {
        let mut reader = Reader::new(tuple);
        let mut put = || {
            if !table.has_names {
                values.put(&mut reader, &mut file.buffer)?;
                file.buffer.push(b'\n');
                return Ok(());
            }
            let count = reader.array_len()? as usize;
            file.buffer.push(b'{');
            for (number, key) in keys.iter().take(count).enumerate() {
                if number > 0 {
                    file.buffer.push(b',');
                }
                file.buffer.extend_from_slice(key);
                values.put(&mut reader, &mut file.buffer)?;
            }
            file.buffer.extend_from_slice(b"}\n");
            Ok(())
        };
        put().map_err(|damage: tarantool::Damage| damage.in_file(&path, 0))?;
        progress.add(1, 0);
        progress.check()?;
        Ok(file.end_row()?)
    })?;
    file.finish()
}
