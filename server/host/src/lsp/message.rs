//! Says what a message's content is: a request, a notice, an answer, or nothing that we can use.
//!
//! JSON-RPC 2.0 as LSP narrows it: an id is a string or a whole number, and there are no batches. Params
//! are made regular here, because editors differ in what they send for "none".

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Error, ErrorCode, Id, error, repair_surrogates};

/// One message from the editor.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// Wants one reply.
    Request {
        /// As the editor wrote it; goes into the reply.
        id: Id,
        /// The method's name.
        method: String,
        /// An object or an array; `None` only for `shutdown`.
        params: Option<Value>,
    },
    /// Wants none.
    Notice {
        /// The method's name.
        method: String,
        /// As above.
        params: Option<Value>,
    },
    /// Answers a request of ours.
    Answer(Answer),
    /// Not to be answered, not to be used; says why, for the log.
    Ignored(&'static str),
    /// To be answered with this error.
    Invalid {
        /// The request's id, or null where it has none that we can read.
        id: Id,
        /// What is wrong with it.
        error: Error,
    },
}

/// The editor's answer to a request of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The id we gave to `Out::request`. It may be one that nobody waits for any more.
    pub id: i64,
    /// The result, or why there is none.
    pub result: Result<Value, Error>,
}

impl Message {
    /// Reads a message's content. True if lone surrogates had to be replaced in it. The error is that of
    /// JSON or UTF-8.
    pub fn parse(body: &[u8]) -> Result<(Message, bool), serde_json::Error> {
        match serde_json::from_slice(body) {
            Ok(value) => Ok((Message::classify(value), false)),
            Err(error) => {
                let repaired = repair_surrogates(body).ok_or(error)?;
                let value = serde_json::from_slice(&repaired)?;
                Ok((Message::classify(value), true))
            }
        }
    }

    fn classify(value: Value) -> Message {
        let mut fields = match value {
            Value::Object(fields) => fields,
            Value::Array(_) => {
                return invalid(Id::Null, "LSP has no batches; send the messages one by one");
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return invalid(Id::Null, "a message is a JSON object");
            }
        };
        let id = fields.remove("id").map(read_id);
        let method = match fields.remove("method") {
            Some(Value::String(method)) => method,
            Some(_) => return invalid(known(id), "`method` is a string"),
            None => return answer(id, fields),
        };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(known(id), "`jsonrpc` is \"2.0\"");
        }
        let params = match fields.remove("params") {
            // It takes none; some editors send `{}` or `null`, and the router would refuse the first.
            _ if method == "shutdown" => None,
            // Editors leave out params that they think empty; the router would refuse that.
            None | Some(Value::Null) => Some(Value::Object(Map::new())),
            Some(params @ (Value::Object(_) | Value::Array(_))) => Some(params),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                return match id {
                    None => Message::Ignored("a notice whose params are neither object nor array"),
                    Some(_) => Message::Invalid {
                        id: known(id),
                        error: error(ErrorCode::InvalidParams, "`params` is an object"),
                    },
                };
            }
        };
        match id {
            None => Message::Notice { method, params },
            Some(Some(id @ (Id::Number(_) | Id::String(_)))) => {
                Message::Request { id, method, params }
            }
            Some(Some(Id::Null) | None) => invalid(Id::Null, "`id` is a string or a whole number"),
        }
    }
}

fn answer(id: Option<Option<Id>>, mut fields: Map<String, Value>) -> Message {
    /// Read leniently: an editor may add fields or leave some out, and the request must end all the same.
    #[derive(Deserialize)]
    #[serde(default)]
    struct Told {
        code: i64,
        message: String,
        data: Option<Value>,
    }
    impl Default for Told {
        fn default() -> Told {
            Told {
                code: ErrorCode::InternalError.code(),
                message: "the editor answered with an error that says nothing".into(),
                data: None,
            }
        }
    }

    let result = match (fields.remove("result"), fields.remove("error")) {
        (Some(result), None | Some(Value::Null)) => Ok(result),
        (None, None) => return invalid(known(id), "neither `method` nor `result` nor `error`"),
        (_, Some(told)) => {
            let told = Told::deserialize(told).unwrap_or_default();
            Err(Error {
                code: told.code.into(),
                message: told.message.into(),
                data: told.data,
            })
        }
    };
    match id {
        Some(Some(Id::Number(id))) => Message::Answer(Answer { id, result }),
        Some(Some(Id::String(_))) => {
            Message::Ignored("an answer to a request that we did not make")
        }
        Some(Some(Id::Null) | None) | None => Message::Ignored("an answer without a usable id"),
    }
}

fn invalid(id: Id, what: &str) -> Message {
    Message::Invalid {
        id,
        error: error(ErrorCode::InvalidRequest, what),
    }
}

fn known(id: Option<Option<Id>>) -> Id {
    id.flatten().unwrap_or(Id::Null)
}

/// `None` for what cannot be an id. `7.0` is the number 7: JSON has one kind of number, and Lua's encoders
/// have written it so.
fn read_id(id: Value) -> Option<Id> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    match id {
        Value::Null => Some(Id::Null),
        Value::String(id) => Some(Id::String(id)),
        Value::Number(id) => match (id.as_i64(), id.as_f64()) {
            (Some(id), _) => Some(Id::Number(id)),
            (None, Some(id)) if id.fract() == 0.0 && id.abs() <= EXACT => {
                Some(Id::Number(id as i64))
            }
            (None, _) => None,
        },
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::Message;

    fn check(bodies: &[&str], expected: Expect) {
        let mut all = String::new();
        for body in bodies {
            let line = match Message::parse(body.as_bytes()) {
                Ok((message, false)) => format!("{}\n", show(message)),
                Ok((message, true)) => format!("{} (repaired)\n", show(message)),
                Err(error) => format!("no JSON: {error}\n"),
            };
            all.push_str(&line);
        }
        expected.assert_eq(&all);
    }

    fn show(message: Message) -> String {
        let json = |it: Option<serde_json::Value>| it.map_or("none".into(), |it| it.to_string());
        match message {
            Message::Request { id, method, params } => {
                format!("request {id} {method} {}", json(params))
            }
            Message::Notice { method, params } => format!("notice {method} {}", json(params)),
            Message::Answer(it) => match it.result {
                Ok(result) => format!("answer {} {result}", it.id),
                Err(error) => format!("answer {} {} {}", it.id, error.code, error.message),
            },
            Message::Ignored(why) => format!("ignored: {why}"),
            Message::Invalid { id, error } => format!("{} for {id}: {}", error.code, error.message),
        }
    }

    #[test]
    fn params_are_made_regular() {
        check(
            &[
                r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":5}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#,
                r#"{"jsonrpc":"2.0","method":"b"}"#,
                r#"{"jsonrpc":"2.0","method":"b","params":"x"}"#,
            ],
            expect![[r#"
                request 1 a {}
                request 1 a {}
                request 1 a []
                -32602 for 1: `params` is an object
                request 1 shutdown none
                request 1 shutdown none
                notice b {}
                ignored: a notice whose params are neither object nor array
            "#]],
        );
    }

    #[test]
    fn ids_are_strings_or_whole_numbers() {
        check(
            &[
                r#"{"jsonrpc":"2.0","id":3000000000,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":-1,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":7.0,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":"abc","method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":1e300,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":[],"method":"a"}"#,
            ],
            expect![[r#"
                request 3000000000 a {}
                request -1 a {}
                request 7 a {}
                request "abc" a {}
                -32600 for null: `id` is a string or a whole number
                -32600 for null: `id` is a string or a whole number
                -32600 for null: `id` is a string or a whole number
                -32600 for null: `id` is a string or a whole number
            "#]],
        );
    }

    #[test]
    fn answers_end_a_request_however_they_are_written() {
        check(
            &[
                r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
                r#"{"id":1,"result":{"a":1},"error":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"no","more":1}}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":null}"#,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
                r#"{"jsonrpc":"2.0","id":"x","result":1}"#,
                r#"{"jsonrpc":"2.0","result":1}"#,
            ],
            expect![[r#"
                answer 1 null
                answer 1 {"a":1}
                answer 1 -32800 no
                answer 1 -32603 the editor answered with an error that says nothing
                answer 1 -32603 the editor answered with an error that says nothing
                ignored: an answer without a usable id
                ignored: an answer to a request that we did not make
                ignored: an answer without a usable id
            "#]],
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        check(
            &[
                r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
                "5",
                r#"{"id":1,"method":"a"}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
                r#"{"jsonrpc":"2.0","id":1}"#,
                "{}",
                r#"{"a":"#,
            ],
            expect![[r#"
                -32600 for null: LSP has no batches; send the messages one by one
                -32600 for null: a message is a JSON object
                -32600 for 1: `jsonrpc` is "2.0"
                -32600 for 1: `method` is a string
                -32600 for 1: neither `method` nor `result` nor `error`
                -32600 for null: neither `method` nor `result` nor `error`
                no JSON: EOF while parsing a value at line 1 column 5
            "#]],
        );
    }

    #[test]
    fn half_an_emoji_is_repaired_and_told() {
        check(
            &[r#"{"jsonrpc":"2.0","method":"a","params":["\ud83d","\ud83d\ude00"]}"#],
            expect![[r#"
                notice a ["�","😀"] (repaired)
            "#]],
        );
    }
}
