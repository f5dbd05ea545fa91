import Cryptography

/// A list as it came, in one of its two forms: parsed, and nothing of it believed.
protocol SignedList: Sendable {
  /// The signer's certificate first; empty where the list names none.
  var chain: [ArraySlice<UInt8>] { get }
  /// What the list says, where it was signed with this key.
  func claims(verifiedBy key: PublicKey) throws(StatusListError) -> any ListClaims
  /// The same whoever signed it: to be shown and never relied on.
  func unverifiedClaims() throws(StatusListError) -> any ListClaims
}

/// The claims of a list.
protocol ListClaims: Sendable {
  func registered() throws(StatusListError) -> RegisteredClaims
  func statuses() throws(StatusListError) -> PackedStatuses
  func identifiers() throws(StatusListError) -> Set<ArraySlice<UInt8>>
}
