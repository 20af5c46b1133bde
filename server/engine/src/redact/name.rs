//! Which names say that their value is a secret.

/// How surely a name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A password: may be any word, and digits alone.
    Password,
    /// A key or another secret: hardly a word.
    Secret,
    /// Compilers, pagers and editors have tokens too: the value must look like one.
    Token,
    /// `Authorization`: the value has a scheme before it.
    Authorization,
}

/// Names that end so, in small letters without `_`, `-` and `.`.
const ENDINGS: &[(&str, Kind)] = &[
    ("password", Kind::Password),
    ("passwd", Kind::Password),
    ("passphrase", Kind::Password),
    ("passcode", Kind::Password),
    ("secret", Kind::Secret),
    ("apikey", Kind::Secret),
    ("accesskey", Kind::Secret),
    ("accesskeyid", Kind::Secret),
    ("privatekey", Kind::Secret),
    ("secretkey", Kind::Secret),
    ("secretkeybase", Kind::Secret),
    ("signingkey", Kind::Secret),
    ("encryptionkey", Kind::Secret),
    ("masterkey", Kind::Secret),
    ("accountkey", Kind::Secret),
    ("authkey", Kind::Secret),
    ("credential", Kind::Token),
    ("credentials", Kind::Token),
    ("token", Kind::Token),
    ("authorization", Kind::Authorization),
];

/// Names that end like a secret's and are none.
const HARMLESS: &[&str] = &[
    "nexttoken",
    "pagetoken",
    "continuationtoken",
    "canceltoken",
    "cancellationtoken",
    "progresstoken",
    "workdonetoken",
    "partialresulttoken",
    "pertoken",
    "starttoken",
    "endtoken",
    "stoptoken",
    "bostoken",
    "eostoken",
    "padtoken",
    "unktoken",
    "masktoken",
    "septoken",
    "clstoken",
    "publicaccesskey",
];

/// Parts of a signed URL that make it good.
const SIGNED: &[&str] = &[
    "sig",
    "signature",
    "xamzsignature",
    "xamzcredential",
    "xamzsecuritytoken",
    "xgoogsignature",
    "xgoogcredential",
    "awsaccesskeyid",
    "key",
    "auth",
];

/// The longest name that is looked at.
pub(super) const LONGEST: usize = 64;

/// A name in small letters without what stands between its words.
struct Plain {
    letters: [u8; LONGEST],
    len: usize,
}

impl Plain {
    fn of(name: &[u8]) -> Self {
        let mut plain = Self {
            letters: [0; LONGEST],
            len: 0,
        };
        let kept = name.iter().filter(|it| it.is_ascii_alphanumeric());
        for (to, from) in plain.letters.iter_mut().zip(kept) {
            *to = from.to_ascii_lowercase();
            plain.len += 1;
        }
        plain
    }

    fn text(&self) -> &[u8] {
        &self.letters[..self.len]
    }
}

pub(super) fn kind_of(name: &[u8]) -> Option<Kind> {
    // `password2`, `API_KEY_1`.
    let name = name.trim_ascii_end();
    let end = name
        .iter()
        .rposition(|it| !matches!(it, b'0'..=b'9' | b'_'))?;
    let name = &name[..=end];
    // The ends of all endings, so that most names cost nothing.
    if !matches!(
        name[end].to_ascii_lowercase(),
        b'd' | b'e' | b't' | b'y' | b'l' | b's' | b'n'
    ) {
        return None;
    }
    if name.ends_with(b"pwd") || name.ends_with(b"Pwd") || name.ends_with(b"_PWD") {
        let is_word = matches!(name, b"pwd" | b"Pwd")
            || name.ends_with(b"_pwd")
            || name.ends_with(b"-pwd")
            || name.ends_with(b"Pwd")
            || name.ends_with(b"_PWD");
        return is_word.then_some(Kind::Password);
    }
    let plain = Plain::of(name);
    let plain = plain.text();
    if HARMLESS.iter().any(|it| plain.ends_with(it.as_bytes())) {
        return None;
    }
    let of = ENDINGS
        .iter()
        .find(|(it, _)| plain.ends_with(it.as_bytes()));
    of.map(|(_, kind)| *kind)
}

/// Whether a variable's name has a secret's word somewhere: `SECRET_FOR_X`, `TOKEN_GITHUB`.
pub(super) fn holds_word(name: &[u8]) -> bool {
    let is_variable = |it: &u8| matches!(it, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    name.iter().all(is_variable)
        && name.split(|it| *it == b'_').any(|it| {
            matches!(
                it,
                b"SECRET" | b"TOKEN" | b"PASSWORD" | b"PASSWD" | b"APIKEY" | b"CREDENTIALS"
            )
        })
}

pub(super) fn is_signed(name: &[u8]) -> bool {
    let plain = Plain::of(name);
    SIGNED.iter().any(|it| plain.text() == it.as_bytes())
}

/// Whether a key of a JSON object says that its value is a secret, whatever its type.
pub(super) fn is_secret_key(key: &str) -> bool {
    key.len() <= LONGEST && kind_of(key.as_bytes()).is_some() && !matches!(key, "PWD" | "OLDPWD")
}
