//! The syntax, as tables of queries and their canonical form. Input: queries that people type. Output: what
//! they are read as. Does not know how they are read.

use query::stem::StemScope;
use query::{Context, FieldSet, Matcher, Query, Stemming, Target, parse};

use crate::context::{assert_canonical, context};

#[test]
fn saved_queries_stand_for_themselves_in_parentheses() {
    assert_canonical(&[
        ("query:mine", "from:me and flag:unread"),
        ("QUERY:mine", "from:me and flag:unread"),
        ("query:mine or x", "(from:me and flag:unread) or x"),
        ("-query:mine", "not (from:me and flag:unread)"),
        ("x query:mine", "x and from:me and flag:unread"),
        ("query:mine-or-bobs", "(from:me and flag:unread) or from:bob"),
        (
            "query:(mine or mine-or-bobs)",
            "(from:me and flag:unread) or (from:me and flag:unread) or from:bob",
        ),
        ("query:\"nothing said\"", "*"),
        ("query:inbox", "maildir:/ and flag:unread and not flag:muted"),
        ("x or query:inbox", "x or (maildir:/ and flag:unread and not flag:muted)"),
        ("query:größe.1", "size:1048576.."),
        ("query:größe.1 query:größe.1", "size:1048576.. and size:1048576.."),
        ("\"query:mine\"", "\"query mine\""),
        ("query://x", "\"query x\""),
    ]);
}

#[test]
fn what_a_saved_query_holds_stands_where_it_is_named() {
    let query = parse("a query:mine-or-bobs", &context()).unwrap();
    let mut spans = Vec::new();
    query.visit_leaves(&mut |leaf| spans.push(leaf.span.clone()));
    assert_eq!(spans, [0..1, 2..20, 2..20, 2..20]);
}

#[test]
fn operators_and_their_precedence() {
    assert_canonical(&[
        ("", "*"),
        (" \t\n", "*"),
        ("*", "*"),
        ("**", "*"),
        ("a b", "a and b"),
        ("a AND b aNd c", "a and b and c"),
        ("a or b or c", "a or b or c"),
        ("a or b and c", "a or (b and c)"),
        ("a b or c d", "(a and b) or (c and d)"),
        ("a xor b xor c", "a xor b xor c"),
        ("a or b xor c", "(a or b) xor c"),
        ("a xor b or c", "(a xor b) or c"),
        ("a or b xor c or d", "((a or b) xor c) or d"),
        ("(a b) c", "a and b and c"),
        ("a (b or c)", "a and (b or c)"),
        ("a and not b", "a and not b"),
        ("not a b", "not a and b"),
        ("not (a b)", "not (a and b)"),
        ("not not a", "a"),
        ("not not not a", "not a"),
        ("((a))", "a"),
        ("(a)(b)", "a and b"),
        ("a(b)", "a and b"),
        ("* a", "* and a"),
        ("not *", "not *"),
        ("-a", "not a"),
        ("a -b", "a and not b"),
        ("-(a b)", "not (a and b)"),
        ("-from:bob", "not from:bob"),
        ("-\"a b\"", "not \"a b\""),
        ("--a", "a"),
        ("(-a)", "not a"),
        ("a-b", "\"a b\""),
        ("\"and\" \"or\"", "\"and\" and \"or\""),
        ("subject:or", "subject:or"),
        ("\\and", "\"and\""),
        ("android", "android"),
        ("a - b & c", "a and b and c"),
        ("not - a", "a"),
    ]);
}

#[test]
fn words_phrases_and_parts_of_words() {
    assert_canonical(&[
        ("Hello", "hello"),
        ("Ångström", "angstrom"),
        ("foo_bar", "\"foo bar\""),
        ("\"foo_bar\"", "\"foo bar\""),
        ("\"Minutes of  the\tmeeting\"", "\"minutes of the meeting\""),
        ("bob@example.org", "\"bob example org\""),
        ("don't", "\"don t\""),
        ("foo*", "foo*"),
        ("\"foo*\"", "foo*"),
        ("\"foo bar*\"", "\"foo bar*\""),
        ("foo-bar*", "\"foo bar*\""),
        ("*foo", "*foo"),
        ("*oob*", "*oob*"),
        ("**oob**", "*oob*"),
        ("*.pdf", "pdf"),
        ("file:*.pdf", "file:pdf"),
        ("foo.*", "foo"),
        ("e\u{301}*", "e*"),
        ("ਲ\u{a3c}*", "ਲ\u{a3c}*"),
        ("foo -\u{301}*", "foo"),
        ("subject:*", "subject:*"),
        ("-subject:*", "not subject:*"),
        ("foo\\*", "foo"),
        ("\"2 * 3\"", "\"2 3\""),
        ("say \"\"\"hello\"\" world\"", "say and \"hello world\""),
        ("\"a \\\"quoted\\\" word\"", "\"a quoted word\""),
        ("two\\ words", "\"two words\""),
        ("half\" quoted\"", "\"half quoted\""),
        ("f\\(x\\)", "\"f x\""),
        ("日本", "日本"),
        ("日本語", "\"日本 本語\""),
        ("日本語*", "\"日本 本語\""),
        ("*日本*", "日本"),
        ("語", "*語*"),
        ("語*", "*語*"),
        // Folding drops the Hebrew point, and makes such a character of a number in parentheses.
        ("*\u{5ba}袋.", "*袋*"),
        ("袋\u{5ba}*", "*袋*"),
        ("*㈠", "*一*"),
        ("㈠*", "*一*"),
        ("*\u{5ba}foo", "*foo"),
        ("foo\u{5ba}*", "foo*"),
        ("한국어", "\"한국 국어\""),
        ("iPhone手机", "\"iphone 手机\""),
    ]);
}

#[test]
fn words_with_signs() {
    assert_canonical(&[
        ("C++", "c++"),
        ("c#", "c#"),
        (".NET", ".net"),
        ("-.net", "not .net"),
        ("Notepad++", "notepad++"),
        ("C++11", "\"c++ 11\""),
        ("C#/.NET", "\"c# .net\""),
        ("\"c++ code\"", "\"c++ code\""),
        ("subject:c++", "subject:c++"),
        ("subject:.net", "subject:.net"),
        ("x-mailer:.net", "X-Mailer:.net"),
        (".net*", ".net*"),
        ("c++*", "c++"),
        ("*c#", "*c#"),
        ("a+b", "\"a b\""),
        ("#include", "include"),
        ("asp.net", "\"asp net\""),
        // In addresses and names of files a dot stands between words; after a star it says so.
        ("from:.net", "from:net"),
        ("contact:.example.org", "contact:\"example org\""),
        ("file:.pdf", "file:pdf"),
        ("file:a++.c", "file:\"a++ c\""),
        ("*.pdf", "pdf"),
    ]);
}

#[test]
fn stems() {
    assert_canonical(&[
        ("~Details", "~details"),
        ("-~details", "not ~details"),
        ("subject:~details", "subject:~details"),
        ("subject:(~a or b)", "subject:~a or subject:b"),
        ("x-mailer:~birds", "X-Mailer:~birds"),
        ("~and", "~and"),
        ("~\"details\"", "~details"),
        // These are no question for a stem.
        ("\"~details\"", "details"),
        ("~/.bashrc", ".bashrc"),
        ("~ details", "details"),
        ("foo~details", "\"foo details\""),
        ("~c++", "c++"),
        ("~日本語", "\"日本 本語\""),
        ("tag:~x", "tag:~x"),
        ("path:~/Mail", "path:~/Mail"),
    ]);
}

#[test]
fn plain_words_stand_for_their_stem_if_they_are_to() {
    let stemming = Stemming { scope: StemScope::Plain, ..Stemming::default() };
    let context = Context { stemming, ..context() };
    for (typed, expected) in [
        ("details", "~details"),
        ("subject:details from:bob", "subject:~details and from:~bob"),
        ("~Details", "~details"),
        ("Details", "details"),
        ("\"details\"", "details"),
        ("half\"way\"", "halfway"),
        ("two-words", "\"two words\""),
        ("details*", "details*"),
        ("*details", "*details"),
        ("/details/", "/details/"),
        ("c++", "c++"),
        ("日本", "日本"),
        ("हिन्दी", "~हिन्दी"),
        ("tag:details", "tag:details"),
    ] {
        assert_eq!(parse(typed, &context).unwrap().to_string(), expected, "{typed}");
    }
}

#[test]
fn regular_expressions() {
    assert_canonical(&[
        ("/fo+/", "/fo+/"),
        ("subject:/h.llo/", "subject:/h.llo/"),
        ("subject:/(a|b)/", "subject:/(a|b)/"),
        ("(/a/ or /b/)", "/a/ or /b/"),
        ("/a/b/", "/a/b/"),
        ("/(a/)/", "/(a/)/"),
        ("/a\\/", "a"),
        ("/[(]/", "/[(]/"),
        ("/FOO\\d/", "/FOO\\d/"),
        ("\"/two words/\"", "\"/two words/\""),
        ("from:\"/bob@.*[.]example[.]com/\"", "from:/bob@.*[.]example[.]com/"),
        ("subject:\"/say \"\"hi\"\"/\"", "subject:\"/say \"\"hi\"\"/\""),
        ("tag:/^a/", "tag:/^a/"),
        ("msgid:/@example/", "msgid:/@example/"),
        ("/usr/bin", "\"usr bin\""),
        ("file:\"///\"", "file:\"///\""),
        ("tag:\\/a/", "tag:\"\\/a/\""),
    ]);
}

#[test]
fn groups_after_a_field() {
    assert_canonical(&[
        ("subject:(a or b)", "subject:a or subject:b"),
        ("from:(alice -bob \"c d\")", "from:alice and not from:bob and from:\"c d\""),
        ("subject:(a (b or c))", "subject:a and (subject:b or subject:c)"),
        ("flag:(unread or flagged)", "flag:unread or flag:flagged"),
        ("maildir:(/a or /b)", "maildir:/a or maildir:/b"),
        ("subject:(*)", "subject:*"),
        ("a subject:(b) c", "a and subject:b and c"),
        ("size:(1 or 2)", "size:1 or size:2"),
        ("subject:(x12:30)", "subject:\"x12 30\""),
        ("x-mailer:(mutt or pine)", "X-Mailer:mutt or X-Mailer:pine"),
    ]);
}

#[test]
fn what_looks_like_a_field_and_is_text() {
    assert_canonical(&[
        ("http://example.org/x", "\"http example org x\""),
        ("https://list.example.org", "\"https list example org\""),
        ("file:///etc/passwd", "\"file etc passwd\""),
        ("12:30", "\"12 30\""),
        ("Re: minutes", "re and minutes"),
        ("Re:", "re"),
        ("(Re:)", "re"),
        ("std::vector", "\"std vector\""),
        ("form::x", "\"form x\""),
        ("foo:bar", "\"foo bar\""),
        ("mailto:bob@example.org", "\"mailto bob example org\""),
        ("a:b:c", "lang:\"b:c\""),
        ("\"form:bob\"", "\"form bob\""),
        ("form\\:bob", "\"form bob\""),
        ("\"from:bob\"", "\"from bob\""),
        (":x", "x"),
        ("foo:\"a b\"", "\"foo a b\""),
    ]);
}

#[test]
fn every_field_and_its_names() {
    assert_canonical(&[
        ("FROM:bob f:bob", "from:bob and from:bob"),
        ("to:a t:a cc:a c:a bcc:a h:a", "to:a and to:a and cc:a and cc:a and bcc:a and bcc:a"),
        ("s:a b:a e:a embed:a", "subject:a and body:a and embed:a and embed:a"),
        ("file:a j:a attachment:a", "file:a and file:a and file:a"),
        ("recip:a contact:bob@x.org", "recip:a and contact:\"bob x org\""),
        ("size:1 z:1", "size:1 and size:1"),
        ("flag:seen flags:S g:s is:seen", "flag:seen and flag:seen and flag:seen and flag:seen"),
        ("is:inbox", "tag:inbox"),
        ("flag:a g:x g:z g:u", "flag:attach and flag:encrypted and flag:signed and flag:unread"),
        ("prio:high p:L priority:Normal", "priority:high and priority:low and priority:normal"),
        ("mime:image/* y:text/plain mimetype:a", "mime:image/* and mime:text/plain and mime:a"),
        (
            "msgid:a@b i:a@b id:a@b mid:<a@b> message-id:a@b",
            "msgid:a@b and msgid:a@b and msgid:a@b and msgid:a@b and msgid:a@b",
        ),
        ("ref:a r:a references:a reference:a", "reference:a and reference:a and reference:a and reference:a"),
        ("thread:a w:a related:a", "thread:a and thread:a and related:a"),
        ("list:mu.example.org v:mu* list:*mu*", "list:mu.example.org and list:mu* and list:*mu*"),
        ("lang:nl a:nl language:nl", "lang:nl and lang:nl and lang:nl"),
        ("tag:x x:x tags:x label:x q:x", "tag:x and tag:x and tag:x and tag:x and tag:x"),
        ("tag:\"a tag\" tag:*", "tag:\"a tag\" and tag:*"),
        ("tag:\"\"\"quoted tag\"\"\"", "tag:\"\\\"quoted tag\\\"\""),
        ("tag:a\\*", "tag:\"a\\*\""),
        ("keyword:$Junk", "keyword:$Junk"),
        ("x-mailer:Mutt X-MAILER:mu*", "X-Mailer:mutt and X-Mailer:mu*"),
    ]);
}

#[test]
fn folders_and_paths() {
    assert_canonical(&[
        ("maildir:/lists/running", "maildir:/lists/running"),
        ("m:/", "maildir:/"),
        ("folder:\"\"", "maildir:/"),
        ("folder:INBOX", "maildir:/INBOX"),
        ("folder:lists/", "maildir:/lists"),
        ("maildir::archive folder::work/spam", "maildir:\":archive\" and maildir:\":work/spam\""),
        ("maildir:/:archive", "maildir:\"/:archive\""),
        ("maildir:\"/Sent Items\"", "maildir:\"/Sent Items\""),
        ("maildir:/\"Sent Items\"", "maildir:\"/Sent Items\""),
        ("maildir:/Lists/", "maildir:/Lists/"),
        ("folder:\"/^.*/(Junk|Spam)$/\"", "maildir:/^.*/(Junk|Spam)$/"),
        ("maildir:/lists*", "maildir:/lists*"),
        ("maildir:lists*", "maildir:/lists*"),
        ("maildir:*lists*", "maildir:*lists*"),
        ("maildir:*/running", "maildir:*/running"),
        ("maildir:/lists/**", "maildir:/lists/**"),
        ("maildir:**", "maildir:/**"),
        ("maildir:*", "maildir:*"),
        ("(maildir:/a or maildir:/b)", "maildir:/a or maildir:/b"),
        ("maildir:/a and maildir:/b/", "maildir:/a and maildir:/b/"),
        ("path:lists/cur", "path:lists/cur"),
        ("path:x/**", "path:x/**"),
        ("path:\"x y/**\"", "path:\"x y\"/**"),
        ("path:**", "path:**"),
        ("path:\"\"", "path:\"\""),
        ("l:/a/b/Maildir/cur/msg:2,S", "path:\"/a/b/Maildir/cur/msg:2,S\""),
        ("path:/a/b/", "path:/a/b/"),
        ("path:/", "path:/"),
        ("path:x/", "path:x"),
    ]);
}

#[test]
fn a_leaf_knows_its_place_in_the_query() {
    let input = "a or (subject:\"ü b\" -f:c)";
    let query = parse(input, &context()).unwrap();
    let mut found = Vec::new();
    query.visit_leaves(&mut |leaf| found.push(&input[leaf.span.clone()]));
    assert_eq!(found, ["a", "subject:\"ü b\"", "f:c"]);
}

#[test]
fn a_bare_word_looks_in_addresses_subject_and_body() {
    let Ok(Query::Leaf(leaf)) = parse("foo_bar", &context()) else { panic!("a leaf is expected") };
    assert_eq!(leaf.target, Target::Fields(FieldSet::BARE));
    assert_eq!(leaf.matcher, Matcher::Words(vec!["foo".to_owned(), "bar".to_owned()]));
    let names: Vec<_> = FieldSet::BARE.iter().map(|field| field.info().name).collect();
    assert_eq!(names, ["from", "to", "cc", "bcc", "subject", "body"]);
}
