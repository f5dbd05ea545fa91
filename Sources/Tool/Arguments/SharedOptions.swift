import Base

/// Options that several verbs have, with one meaning everywhere.
extension Option {
  static let help = Option(flag: "help", "show this help")
  static let json = Option(flag: "json", "print JSON instead of text")

  static let at = Option(
    "at", "TIME", "the time to judge by: 2026-11-20T10:00:00Z, a date, or Unix seconds (default: now)")

  static let trust = Option(
    "trust", "PATH",
    "trust anchors: a PEM or DER file, or a folder of them; an anchor's settings stand beside it as .json",
    occurrence: .requiredRepeatable)

  static let clockSkew = Option(
    "clock-skew", "SECONDS", "by how much clocks may differ", fallback: "\(Limits.clockSkew)")

  static let strict = Option(flag: "strict", "reject for what otherwise only warns")

  static let request = Option(
    "request", "JSON", "what was asked, as the HTTP API takes it: a JSON object, or a file that holds one")

  static let seed = Option(
    "seed", "HEX", "what all keys and random values derive from (default: the same for every mock)")

  static let out = Option("out", "FILE", "where to write", occurrence: .required)
}
