//! Reads the encoded parts of an address. Input: a path's part, or what follows `?`. Output: texts, or none
//! if the encoding is wrong. Does not know what they mean.

/// Decodes a percent-encoded text, such as a part of [`Request::path`](crate::Request::path) between slashes.
/// Returns `None` if it is not encoded right, or is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => digit(bytes.next())? << 4 | digit(bytes.next())?,
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

/// Reads the names and values of a query, as forms and `URLSearchParams` write them: `+` is a space.
pub(crate) fn query_pairs(query: &str) -> Option<Vec<(String, String)>> {
    let decode = |text: &str| percent_decoded(&text.replace('+', " "));
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(name)?, decode(value)?))
    });
    pairs.collect()
}

fn digit(byte: Option<u8>) -> Option<u8> {
    let digit = char::from(byte?).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_once_or_not_at_all() {
        assert_eq!(percent_decoded("a%20b%2Fc%c3%A9+%2541").as_deref(), Some("a b/cé+%41"));
        for wrong in ["%", "%4", "%4g", "%+4", "%ff", "a%c3"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn queries_are_read_as_forms_write_them() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let pairs = [pair("a", "1 2"), pair("b", ""), pair("c", "x=y"), pair("a", "&")];
        assert_eq!(query_pairs("a=1+2&b&&c=x=y&a=%26").as_deref(), Some(&pairs[..]));
        assert_eq!(query_pairs("").as_deref(), Some(&[][..]));
        assert_eq!(query_pairs("a=%zz"), None);
    }
}
