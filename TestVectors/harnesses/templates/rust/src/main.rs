//! A harness for a verifier in Rust: fill in `describe` and `verify`, and add the verifier to Cargo.toml.
//!
//!     mdoc vectors run --exec target/release/mdoc-harness

use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

/// What the verifier says of a case, with its own error as a note.
#[allow(dead_code)] // The template judges nothing yet.
enum Verdict {
    Accepted,
    Rejected(String),
    /// The verifier does not claim to judge this case: why.
    Unsupported(String),
}

fn describe() -> Value {
    json!({
        "name": "my-verifier",
        "version": env!("CARGO_PKG_VERSION"),
        "language": "Rust",
        "profiles": ["core"],
        "leaves": ["strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"],
        "use": "my_verifier::verify with the trust anchors, the transcript, the time and the document type.",
        "documentation": "https://docs.rs/my-verifier",
    })
}

/// Judges one DeviceResponse with the verifier's strictest documented use.
///
/// All that the verifier needs is decoded here. Its errors are rejections; a panic is reported as a crash.
fn verify(question: &Value) -> Verdict {
    if question["protocol"] != "proximity" {
        return Verdict::Unsupported("mdoc over other protocols".into());
    }
    let response = bytes(&question["input"]);
    let transcript = bytes(&question["session"]["transcript"]);
    let time = question["validation_time"].as_str().unwrap_or_default();
    let doc_types: Vec<&str> = list(&question["request"]["documents"])
        .iter()
        .filter_map(|document| document["doc_type"].as_str())
        .collect();
    let anchors: Vec<Vec<u8>> = list(&question["anchors"])
        .iter()
        .filter(|anchor| list(&question["trust_anchors"]).contains(&anchor["name"]))
        .map(|anchor| bytes(&anchor["certificate"]))
        .collect();

    // match my_verifier::verify(&response, &transcript, &anchors, time, &doc_types) {
    //     Ok(_) => Verdict::Accepted,
    //     Err(error) => Verdict::Rejected(error.to_string()),
    // }
    let _ = (response, transcript, time, doc_types, anchors);
    Verdict::Unsupported("the template judges nothing yet".into())
}

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        writeln!(output, "{}", answer(&line))?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

fn answer(line: &[u8]) -> Value {
    let question = match serde_json::from_slice(line) {
        Ok(Value::Object(question)) => Value::Object(question),
        Ok(_) => return json!({"verdict": "error", "reason": "no JSON object"}),
        Err(error) => return json!({"verdict": "error", "reason": error.to_string()}),
    };
    if question.get("describe").is_some() {
        return describe();
    }
    let id = &question["id"];
    match verify(&question) {
        Verdict::Accepted => json!({"id": id, "verdict": "accepted"}),
        Verdict::Rejected(note) => json!({"id": id, "verdict": "rejected", "note": short(&note)}),
        Verdict::Unsupported(reason) => {
            json!({"id": id, "verdict": "unsupported", "reason": short(&reason)})
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Decodes base64url without padding; empty if the member is absent.
fn bytes(value: &Value) -> Vec<u8> {
    let (mut decoded, mut buffer, mut count) = (Vec::new(), 0u32, 0);
    for character in value.as_str().unwrap_or_default().bytes() {
        let digit = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        buffer = buffer << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((buffer >> count) as u8);
        }
    }
    decoded
}
