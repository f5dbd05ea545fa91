/// Which of the addresses that certificates name are asked for their authority's revocation lists.
///
/// Only the certificates of a validated path name them: nothing that a wallet or a document says leads here.
public enum CRLAddresses: String, Sendable, CaseIterable {
  /// As they are named: over plain HTTP as well, which RFC 5280, 8 expects of lists that are signed themselves, and at
  /// ports of their own. Some states' authorities have no other. Whoever is on the way sees which list is asked for, and
  /// can withhold a newer one until the older one ends.
  case named
  /// Over HTTPS on its standard port alone.
  case https
}
