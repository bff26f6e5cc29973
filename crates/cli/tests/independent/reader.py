"""Reads messages with Python's email package: an independent reader that the program's answers are compared with.

Paths come in on standard input, each ended by a zero byte. For each a line of JSON goes out: its path and what Python makes of the
message. A field that Python cannot read is left out. Must not know what the program makes of it.
"""

import email
import email.header
import email.policy
import email.utils
import json
import os
import re
import sys


def decoded(value):
    """Returns the text of a header field with its encoded words decoded."""
    return str(email.header.make_header(email.header.decode_header(str(value))))


def one_line(text):
    return " ".join(text.split())


def addresses(message, name):
    """Returns the addresses of all fields of a name, in lower case."""
    values = [str(value) for value in message.get_all(name, [])]
    return [address.lower() for _, address in email.utils.getaddresses(values) if address]


def date(message):
    """Returns the date in seconds since 1970. Years of three digits, which some programs wrote after 1999, Python takes as they are."""
    moment = email.utils.parsedate_tz(str(message["Date"]))
    return None if moment is None or moment[0] < 1900 else email.utils.mktime_tz(moment)


# What signs or hides the other parts is no attachment.
WRAPPINGS = {
    "application/pgp-encrypted",
    "application/pgp-signature",
    "application/pkcs7-mime",
    "application/pkcs7-signature",
    "application/x-pkcs7-mime",
    "application/x-pkcs7-signature",
}


def attachments(message):
    """Returns the names of all parts that have one and are no wrapping."""
    if message.get_content_type() in {"multipart/encrypted", "message/partial"}:
        return []
    encrypted = {id(part) for whole in message.walk() if whole.get_content_type() == "multipart/encrypted" for part in whole.walk()}
    parts = (
        part
        for part in message.walk()
        if part.get_content_type() not in WRAPPINGS and id(part) not in encrypted
    )
    names = (part.get_filename() for part in parts)
    return sorted(one_line(decoded(name)) for name in names if name)


# Of these ASCII is ASCII, whatever stands beside it.
CHARSETS = {None, "us-ascii", "utf-8", "iso-8859-1", "iso-8859-15", "windows-1252"}


def is_plain(part):
    """Says whether a part is text that is read here: no attachment, no charset that writes others in ASCII, no unknown encoding."""
    encoding = str(part["Content-Transfer-Encoding"] or "7bit").strip().lower()
    return (
        part.get_content_type() == "text/plain"
        and not part.get_filename()
        and part.get_content_charset() in CHARSETS
        and encoding in {"7bit", "8bit", "base64", "quoted-printable"}
        and b"\x1b" not in part.get_payload(decode=True)
    )


def words(message):
    """Returns the words of all plain text in ASCII that is no attachment, in lower case."""
    found = set()
    for part in leaves(message):
        text = part.get_payload(decode=True).decode("latin-1") if is_plain(part) else ""
        if text.isascii():
            found.update(re.findall(r"[a-z0-9]+", text.lower()))
    return sorted(found)


def leaves(message):
    """Returns the parts that hold no others. A fragment of a message (message/partial) is none: its parts are elsewhere."""
    if message.get_content_type() == "message/partial":
        return []
    return [part for part in message.walk() if not part.is_multipart()]


def is_all_plain(message):
    """Says whether a message has no text but what `words` returns."""
    parts = leaves(message)
    return all(is_plain(part) and part.get_payload(decode=True).isascii() for part in parts)


FIELDS = {
    "from": lambda message: addresses(message, "From"),
    "to": lambda message: addresses(message, "To"),
    "cc": lambda message: addresses(message, "Cc"),
    "subject": lambda message: one_line(decoded(message["Subject"] or "")),
    "message_id": lambda message: message["Message-ID"] and str(message["Message-ID"]).strip().strip("<>"),
    "date": date,
    "attachments": attachments,
    "words": words,
    "all_plain": is_all_plain,
}


def read(path):
    with open(path, "rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.compat32)
    record = {"path": os.fsdecode(path)}
    for name, field in FIELDS.items():
        try:
            value = field(message)
        except Exception:
            continue
        # Python gives these characters for bytes that it does not know, or keeps them.
        if value is not None and not any(letter in json.dumps(value) for letter in ("\\ufffd", "\\u0000", "\\u001b")):
            record[name] = value
    return record


for path in sys.stdin.buffer.read().split(b"\0"):
    if path:
        json.dump(read(path), sys.stdout)
        sys.stdout.write("\n")
