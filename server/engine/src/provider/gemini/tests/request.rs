//! What is asked: the whole request, compared.

use std::sync::Arc;

use expect_test::{Expect, expect};
use protocol::config::Reasoning;
use protocol::tool::Picture;
use serde_json::{Value, json};

use crate::provider::{
    Content, Endpoint, Feature, Image, Learned, Message, ModelRequest, Secret, ToolCall,
    ToolResult, ToolSpec, Wire,
};

fn endpoint(base_url: &str, key: Option<&str>) -> Endpoint {
    Endpoint {
        base_url: base_url.to_owned(),
        key: key.map(Secret::new),
        extra_headers: Vec::new(),
    }
}

fn question(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "gemini-3-pro".to_owned(),
        messages,
        ..ModelRequest::default()
    }
}

fn body(request: &ModelRequest) -> Value {
    let endpoint = endpoint("http://localhost:1", None);
    let http = Wire::GenerateContent.provider().request(&endpoint, request);
    serde_json::from_slice(&http.body).unwrap()
}

fn check(request: &ModelRequest, expected: Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(&body(request)).unwrap());
}

fn user(text: &str) -> Message {
    Message::User(vec![Content::Text(text.to_owned())])
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        native: None,
    }
}

fn answer(text: &str, calls: Vec<ToolCall>, raw: Option<Value>) -> Message {
    Message::Assistant {
        text: text.to_owned(),
        thought: "hm".to_owned(),
        calls,
        raw,
    }
}

fn result(id: &str, text: &str, is_error: bool) -> ToolResult {
    ToolResult {
        id: id.to_owned(),
        text: text.to_owned(),
        is_error,
        images: Vec::new(),
    }
}

#[test]
fn bug_104_parts_go_back_as_they_came_with_their_signatures() {
    let parts = json!([
        {"text": "hm", "thought": true},
        {"text": "Reading", "thoughtSignature": "t"},
        {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "s", "partMetadata": {"k": 1}},
        {"functionCall": {"name": "read", "args": {"path": "b"}, "id": "their"}},
        {"text": "", "thoughtSignature": "u"},
    ]);
    let request = question(vec![
        user("go"),
        answer(
            "Reading",
            vec![
                call("call_0", "read", r#"{"path":"a"}"#),
                call("their", "read", r#"{"path": "b"}"#),
            ],
            Some(json!({"parts": parts})),
        ),
        Message::Results(vec![
            result("call_0", "alpha", false),
            result("their", "no such file", true),
        ]),
    ]);
    let contents = &body(&request)["contents"];
    assert_eq!(contents[1], json!({"role": "model", "parts": parts}));
    assert_eq!(
        contents[2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "read", "response": {"output": "alpha"}}},
            {"functionResponse": {"id": "their", "name": "read", "response": {"error": "no such file"}}},
        ]})
    );
    assert_eq!(contents.as_array().unwrap().len(), 3);
}

#[test]
fn an_answer_of_another_model_says_that_it_has_no_signature() {
    let calls = vec![
        call("toolu_1", "multi_tool use", "{\"a\": 1}"),
        call("toolu_2", "read", "not JSON"),
        call("toolu_3", "read", ""),
    ];
    let results = vec![
        result("toolu_1", "1", false),
        result("toolu_2", "2", true),
        result("toolu_3", "3", false),
    ];
    let mut request = question(vec![
        user("go"),
        answer("", calls, None),
        Message::Results(results),
        user("and now?"),
    ]);
    check(
        &request,
        expect![[r#"
        {
          "contents": [
            {
              "role": "user",
              "parts": [
                {
                  "text": "go"
                }
              ]
            },
            {
              "role": "model",
              "parts": [
                {
                  "functionCall": {
                    "name": "multi_tool_use",
                    "args": {
                      "a": 1
                    }
                  },
                  "thoughtSignature": "skip_thought_signature_validator"
                },
                {
                  "functionCall": {
                    "name": "read",
                    "args": {
                      "invalid_json": "not JSON"
                    }
                  }
                },
                {
                  "functionCall": {
                    "name": "read",
                    "args": {}
                  }
                }
              ]
            },
            {
              "role": "user",
              "parts": [
                {
                  "functionResponse": {
                    "name": "multi_tool_use",
                    "response": {
                      "output": "1"
                    }
                  }
                },
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "error": "2"
                    }
                  }
                },
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "output": "3"
                    }
                  }
                }
              ]
            },
            {
              "role": "user",
              "parts": [
                {
                  "text": "and now?"
                }
              ]
            }
          ],
          "generationConfig": {
            "thinkingConfig": {
              "includeThoughts": true
            }
          }
        }"#]],
    );
    request.model = "models/gemini-2.5-flash".to_owned();
    let body = body(&request).to_string();
    assert!(!body.contains("thoughtSignature"), "{body}");
}

#[test]
fn raw_parts_at_odds_with_the_calls_are_left_out() {
    let parts = json!({"parts": [
        {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "s"},
    ]});
    let at_odds = [
        vec![],
        vec![call("call_0", "read", r#"{"path":"b"}"#)],
        vec![call("call_0", "write", r#"{"path":"a"}"#)],
        vec![
            call("call_0", "read", r#"{"path":"a"}"#),
            call("call_1", "read", "{}"),
        ],
    ];
    for calls in at_odds {
        let results = calls.iter().map(|it| result(&it.id, "x", false)).collect();
        let request = question(vec![
            user("go"),
            answer("text", calls.clone(), Some(parts.clone())),
            Message::Results(results),
        ]);
        let body = body(&request);
        let sent = &body["contents"][1]["parts"];
        assert_eq!(sent[0], json!({"text": "text"}), "{calls:?}");
        assert!(!sent.to_string().contains("\"s\""), "{calls:?}");
    }
    for raw in [
        json!(null),
        json!({"parts": []}),
        json!({"parts": 7}),
        json!([1]),
    ] {
        let request = question(vec![user("go"), answer("text", vec![], Some(raw))]);
        assert_eq!(
            body(&request)["contents"][1]["parts"],
            json!([{"text": "text"}])
        );
    }
}

#[test]
fn pictures_follow_the_run_of_results_and_go_before_what_the_person_says_next() {
    let picture = |name: &str| Image {
        picture: Picture {
            media_type: "image/png".to_owned(),
            bytes: 3,
            name: name.to_owned(),
            sha256: String::new(),
        },
        data: Arc::from("AAAA"),
    };
    let mut first = result("call_0", "[image/png, 3 bytes]", false);
    first.images.push(picture("a.png"));
    let mut second = result("call_1", "two", false);
    second.images.push(picture(""));
    let calls = vec![call("call_0", "read", "{}"), call("call_1", "read", "{}")];
    let request = question(vec![
        user("go"),
        answer("", calls, None),
        Message::Results(vec![first, second]),
        user("and now?"),
    ]);
    let body = body(&request);
    let contents = body["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 4);
    expect![[r#"
        {
          "role": "user",
          "parts": [
            {
              "text": "Of tool call call_0: a.png [image/png, 3 bytes]"
            },
            {
              "inlineData": {
                "mimeType": "image/png",
                "data": "AAAA"
              }
            },
            {
              "text": "Of tool call call_1: [image/png, 3 bytes]"
            },
            {
              "inlineData": {
                "mimeType": "image/png",
                "data": "AAAA"
              }
            },
            {
              "text": "and now?"
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&contents[3]).unwrap());
}

#[test]
fn each_conversation_begins_with_the_one_before_it() {
    let parts =
        json!({"parts": [{"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "s"}]});
    let mut messages = vec![
        user("go"),
        answer("", vec![call("call_0", "read", "")], Some(parts)),
        Message::Results(vec![result("call_0", "x", false)]),
        answer("text", vec![], None),
        user("on"),
        answer("", vec![call("call_0", "list", "{}")], None),
        Message::Results(vec![result("call_0", "y", true)]),
    ];
    let whole = body(&question(messages.clone()));
    let whole = whole["contents"].as_array().unwrap();
    while messages.pop().is_some() {
        let before = body(&question(messages.clone()));
        let before = before["contents"].as_array().unwrap();
        assert_eq!(before.as_slice(), &whole[..before.len()]);
        assert_eq!(before.len(), messages.len());
    }
}

fn tool(parameters: Value) -> ToolSpec {
    ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        parameters,
    }
}

#[test]
fn everything_that_can_be_set_is_sent_and_what_was_refused_is_not() {
    let mut request = question(vec![user("go")]);
    request.system = "Be brief.".to_owned();
    request.tools = vec![tool(
        json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    )];
    request.max_tokens = Some(100_000);
    request.temperature = Some(0.5);
    request.reasoning = Some(Reasoning::High);
    request.learned.max_tokens = Some(65_536);
    check(
        &request,
        expect![[r#"
        {
          "contents": [
            {
              "role": "user",
              "parts": [
                {
                  "text": "go"
                }
              ]
            }
          ],
          "systemInstruction": {
            "parts": [
              {
                "text": "Be brief."
              }
            ]
          },
          "tools": [
            {
              "functionDeclarations": [
                {
                  "name": "read",
                  "description": "Reads.",
                  "parametersJsonSchema": {
                    "type": "object",
                    "properties": {
                      "path": {
                        "type": "string"
                      }
                    }
                  }
                }
              ]
            }
          ],
          "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 65536,
            "thinkingConfig": {
              "includeThoughts": true,
              "thinkingLevel": "HIGH"
            }
          }
        }"#]],
    );
    for feature in [
        Feature::Temperature,
        Feature::MaxTokens,
        Feature::Thinking,
        Feature::Tools,
    ] {
        request.learned.refused.insert(feature);
    }
    check(
        &request,
        expect![[r#"
        {
          "contents": [
            {
              "role": "user",
              "parts": [
                {
                  "text": "go"
                }
              ]
            }
          ],
          "systemInstruction": {
            "parts": [
              {
                "text": "Be brief."
              }
            ]
          }
        }"#]],
    );
}

#[test]
fn a_level_is_sent_as_the_models_generation_takes_it() {
    let config = |model: &str, reasoning, learned: Learned| {
        let request = ModelRequest {
            model: model.to_owned(),
            reasoning,
            learned,
            ..question(vec![user("go")])
        };
        body(&request)["generationConfig"].to_string()
    };
    let learned = |feature| Learned {
        refused: [feature].into(),
        ..Learned::default()
    };
    let none = Learned::default;
    let mut said = String::new();
    for (model, level, learned) in [
        ("gemini-3-pro", None, none()),
        ("gemini-3-pro", Some(Reasoning::None), none()),
        ("gemini-3-pro", Some(Reasoning::Max), none()),
        (
            "gemini-3-pro",
            Some(Reasoning::Low),
            learned(Feature::ThoughtDisplay),
        ),
        (
            "gemini-3-pro",
            Some(Reasoning::Low),
            learned(Feature::Reasoning),
        ),
        ("gemini-2.5-pro", None, none()),
        ("gemini-2.5-pro", Some(Reasoning::None), none()),
        ("gemini-2.5-pro", Some(Reasoning::Medium), none()),
        ("gemini-2.0-flash", None, none()),
        ("models/gemma-3-27b-it", None, none()),
        ("gemini-2.0-flash", Some(Reasoning::Low), none()),
    ] {
        said += &format!("{model} {level:?}: {}\n", config(model, level, learned));
    }
    expect![[r#"
        gemini-3-pro None: {"thinkingConfig":{"includeThoughts":true}}
        gemini-3-pro Some(None): {"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MINIMAL"}}
        gemini-3-pro Some(Max): {"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"XHIGH"}}
        gemini-3-pro Some(Low): {"thinkingConfig":{"thinkingLevel":"LOW"}}
        gemini-3-pro Some(Low): {"thinkingConfig":{"includeThoughts":true}}
        gemini-2.5-pro None: {"thinkingConfig":{"includeThoughts":true}}
        gemini-2.5-pro Some(None): {"thinkingConfig":{"thinkingBudget":0}}
        gemini-2.5-pro Some(Medium): {"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}
        gemini-2.0-flash None: null
        models/gemma-3-27b-it None: null
        gemini-2.0-flash Some(Low): {"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}}
    "#]].assert_eq(&said);
}

#[test]
fn a_server_without_json_schema_gets_what_open_api_has_a_word_for() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Edit",
        "type": "object",
        "additionalProperties": false,
        "required": ["path"],
        "properties": {
            "path": {"type": "string", "format": "uri", "pattern": "^a"},
            "limit": {"type": ["integer", "null"], "format": "uint64", "minimum": 0, "exclusiveMaximum": 5},
            "kind": {"description": "What kind.", "$ref": "#/$defs/Kind"},
            "only": {"const": "x"},
            "number": {"enum": [1, 2]},
            "either": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}]},
            "several": {"type": ["string", "integer"]},
            "tree": {"$ref": "#/$defs/Tree"},
            "generated": {"allOf": [{"$ref": "#/$defs/Kind"}], "description": "Said here."},
            "anything": true,
            "lost": {"$ref": "elsewhere.json"},
        },
        "$defs": {
            "Kind": {"type": "string", "enum": ["a", "b"], "description": "A kind."},
            "Tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/Leaf"}}},
            "Leaf": {"type": "object", "properties": {}},
        },
    });
    let mut request = question(vec![user("go")]);
    request.tools = vec![tool(schema)];
    request.learned.refused.insert(Feature::JsonSchema);
    let body = body(&request);
    let declaration = &body["tools"][0]["functionDeclarations"][0];
    expect![[r#"
        {
          "name": "read",
          "description": "Reads.",
          "parameters": {
            "title": "Edit",
            "required": [
              "path"
            ],
            "type": "object",
            "properties": {
              "path": {
                "pattern": "^a",
                "type": "string"
              },
              "limit": {
                "minimum": 0,
                "type": "integer",
                "nullable": true
              },
              "kind": {
                "description": "What kind.",
                "type": "string",
                "enum": [
                  "a",
                  "b"
                ]
              },
              "only": {
                "enum": [
                  "x"
                ],
                "type": "string"
              },
              "number": {},
              "either": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "array",
                    "items": {
                      "type": "integer"
                    }
                  }
                ],
                "nullable": true
              },
              "maybe": {
                "description": "A kind.",
                "type": "string",
                "enum": [
                  "a",
                  "b"
                ],
                "nullable": true
              },
              "several": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "integer"
                  }
                ]
              },
              "tree": {
                "type": "object",
                "properties": {
                  "below": {
                    "type": "object"
                  }
                }
              },
              "generated": {
                "description": "Said here.",
                "type": "string",
                "enum": [
                  "a",
                  "b"
                ]
              },
              "anything": {
                "type": "object"
              },
              "lost": {}
            }
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(declaration).unwrap());
}

#[test]
fn a_schema_that_contains_itself_ends() {
    let within: serde_json::Map<String, Value> = (0..50)
        .map(|it| (format!("p{it}"), json!({"$ref": "#"})))
        .collect();
    let schema = json!({"type": "object", "properties": within});
    let mut request = question(vec![user("go")]);
    request.tools = vec![tool(schema)];
    request.learned.refused.insert(Feature::JsonSchema);
    let body = body(&request).to_string();
    assert!(
        body.len() < 1_000_000 && !body.contains("$ref"),
        "{}",
        body.len()
    );
}

#[test]
fn the_address_has_the_model_and_its_key_is_in_a_header() {
    let address = |base_url: &str, model: &str| {
        let request = ModelRequest {
            model: model.to_owned(),
            ..question(vec![user("go")])
        };
        let endpoint = endpoint(base_url, Some("hunter2-hunter2"));
        let http = Wire::GenerateContent
            .provider()
            .request(&endpoint, &request);
        assert_eq!(http.method, "POST");
        let key = ("x-goog-api-key".to_owned(), "hunter2-hunter2".to_owned());
        assert!(http.headers.contains(&key));
        http.url
    };
    let said = [
        address("https://g.test", "gemini-3-pro"),
        address("https://g.test/", "models/gemini-3-pro"),
        address("https://g.test/v1beta", "x"),
        address("https://g.test/v1alpha/?a=b", "x"),
        address("https://g.test?key=1", "a b/c?d#é:e"),
    ];
    expect![[r#"
        https://g.test/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse
        https://g.test/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse
        https://g.test/v1beta/models/x:streamGenerateContent?alt=sse
        https://g.test/v1alpha/models/x:streamGenerateContent?a=b&alt=sse
        https://g.test/v1beta/models/a%20b%2Fc%3Fd%23%C3%A9%3Ae:streamGenerateContent?key=1&alt=sse"#]].assert_eq(&said.join("\n"));
}
