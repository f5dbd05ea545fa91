import Base
import Mock
import PKIX

/// `mdoc mock anchors`: what a verifier is to trust so that mock answers verify.
enum MockAnchors {
  static let command = Command(
    "anchors", "write the mock authority's trust anchors with their settings",
    options: [.folder, .seed, .issuerCurve, .at, .json],
    notes: ["They belong to answers of the same --seed and --issuer-curve, and change once in ten years of --at."],
    examples: [
      .init("Anchors for mock answers", "mdoc mock anchors --out anchors"),
      .init("And their use", "mdoc verify apple … --trust anchors"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let authority = try MockCommand.authority(arguments)
    let now = try arguments.time(.at)
    let anchors = try MockCommand.made { try authority.anchors(at: now) }
    let folder = try arguments.required(.folder)
    try FileAccess.makeFolder(folder)
    for anchor in anchors {
      let stem = "\(folder)/\(anchor.name)"
      try FileAccess.write(Array(PEM.encode(certificate: anchor.certificate).utf8), to: stem + ".pem")
      try FileAccess.write(settings(of: anchor).serialized(pretty: true) + [0x0a], to: stem + ".json")
    }
    if arguments.has(.json) {
      console.print(["folder": .string(folder), "anchors": .array(anchors.map { .string($0.name) })])
    } else {
      console.print(Printable.line("\(folder): \(anchors.count) anchors with their settings"))
    }
    return .done
  }

  /// As the trust loader reads it beside the certificate.
  private static func settings(of anchor: MockAnchor) -> JSON {
    [
      "doc_types": .array(anchor.docTypes.map { .string($0) }),
      "ekus": .array(anchor.extendedKeyUsages.map { .string($0) }),
      "max_path_length": .integer(Int64(anchor.maxPathLength)), "tier": "test",
    ]
  }
}

extension Option {
  fileprivate static let folder = Option("out", "FOLDER", "a folder, made where it is missing", occurrence: .required)
}
