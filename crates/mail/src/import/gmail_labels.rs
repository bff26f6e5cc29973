//! The names of Gmail's own labels in Google Takeout, which are in the language of the account.
//!
//! Input: a label. Output: what it means, if it is Gmail's own. Names of Archived and Opened are here only in
//! languages in which an export shows them: elsewhere they might be a label of the user.

/// What a label of Gmail means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GmailLabel {
    /// The message was not read.
    Unread,
    /// It is marked.
    Starred,
    /// It is a draft.
    Draft,
    /// Nothing: it was read, or is in no folder.
    Silent,
    /// A tag.
    Tag(&'static str),
}

/// Names by meaning: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Japanese.
const NAMES: [(GmailLabel, &[&str]); 10] = [
    (
        GmailLabel::Unread,
        &[
            "Unread",
            "Ungelesen",
            "Non lus",
            "No leídos",
            "Non letti",
            "Não lidas",
            "Não lidos",
            "Ongelezen",
            "Nieprzeczytane",
            "Olästa",
            "未読",
        ],
    ),
    (
        GmailLabel::Starred,
        &[
            "Starred",
            "Markiert",
            "Suivis",
            "Destacados",
            "Speciali",
            "Com estrela",
            "Met ster",
            "Oznaczone gwiazdką",
            "Stjärnmärkt",
            "スター付き",
        ],
    ),
    (
        GmailLabel::Draft,
        &[
            "Drafts",
            "Draft",
            "Entwürfe",
            "Brouillons",
            "Borradores",
            "Bozze",
            "Rascunhos",
            "Concepten",
            "Wersje robocze",
            "Utkast",
            "下書き",
        ],
    ),
    (
        GmailLabel::Silent,
        &["Opened", "Geöffnet", "Ouvert", "Archived", "Archiviert", "Archivés", "Messages archivés"],
    ),
    (
        GmailLabel::Tag("inbox"),
        &[
            "Inbox",
            "Posteingang",
            "Boîte de réception",
            "Recibidos",
            "Posta in arrivo",
            "Caixa de entrada",
            "Postvak IN",
            "Odebrane",
            "Inkorg",
            "Inkorgen",
            "受信トレイ",
        ],
    ),
    (
        GmailLabel::Tag("sent"),
        &[
            "Sent",
            "Gesendet",
            "Envoyé",
            "Messages envoyés",
            "Enviados",
            "Inviati",
            "Posta inviata",
            "E-mails enviados",
            "Verzonden",
            "Wysłane",
            "Skickat",
            "送信済み",
        ],
    ),
    (GmailLabel::Tag("spam"), &["Spam", "Skräppost", "迷惑メール"]),
    (
        GmailLabel::Tag("trash"),
        &[
            "Trash",
            "Papierkorb",
            "Corbeille",
            "Papelera",
            "Cestino",
            "Lixeira",
            "Prullenbak",
            "Kosz",
            "Papperskorgen",
            "ゴミ箱",
        ],
    ),
    (
        GmailLabel::Tag("important"),
        &[
            "Important",
            "Wichtig",
            "Importantes",
            "Importanti",
            "Importante",
            "Belangrijk",
            "Ważne",
            "Viktigt",
            "重要",
        ],
    ),
    (GmailLabel::Tag("chat"), &["Chat"]),
];

/// Returns what a label means if it is one of Gmail's own.
pub(super) fn meaning(label: &str) -> Option<GmailLabel> {
    NAMES.iter().find(|(_, names)| names.contains(&label)).map(|(meaning, _)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_name_has_one_meaning() {
        let all: Vec<&str> = NAMES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert_eq!(meaning("Posta in arrivo"), Some(GmailLabel::Tag("inbox")));
        assert_eq!(meaning("未読"), Some(GmailLabel::Unread));
        assert_eq!(meaning("inbox"), None, "a user may have such a label");
    }
}
