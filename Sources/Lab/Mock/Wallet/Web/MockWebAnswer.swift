import Base

/// A wallet's answer to a web protocol's request, and what it was made for.
package struct MockWebAnswer: Sendable {
  /// `data` of the DigitalCredential; where the wallet posts its answer, the form's fields, all of them strings.
  package let data: JSON
  /// Before they were encrypted: one, or one for each query that is answered.
  package let deviceResponses: [[UInt8]]
  /// The transcript that the verifier is to build, also where the variant made the wallet use another.
  package let sessionTranscript: [UInt8]
  package let variant: MockVariant
}

/// How the device proves its key over a web protocol.
package enum MockWebAuthentication: String, Sendable, CaseIterable {
  case signature
  /// A MAC with the verifier's encryption key as the reader key (OpenID4VP 1.0, B.2.5), where the answer is encrypted.
  case mac
}

/// What the page or the response endpoint is to get, still to be changed.
struct WebDataDraft: Sendable {
  var members: [JSON.Member]
  /// The same answer in clear, where it is encrypted.
  let clear: [JSON.Member]

  subscript(name: String) -> JSON? {
    get { members.first { $0.name == name }?.value }
    set { members.set(name, to: newValue) }
  }
}
