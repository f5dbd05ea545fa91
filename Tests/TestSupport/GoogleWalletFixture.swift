/// `gw_rp_metadata_bytes`, made and hashed by another CBOR library.
package enum GoogleWalletFixture {
  package static let text =
    "2BhYj6Juc2NoZW1hX3ZlcnNpb25idjFnZGlzcGxheaNsZGlzcGxheV9uYW1lbEV4YW1wbGUgU2hvcGhsb2dvX3VyaXgdaHR0cHM6Ly9zaG9w"
    + "LmV4YW1wbGUvbG9nby5zdmdycHJpdmFjeV9wb2xpY3lfdXJpeBxodHRwczovL3Nob3AuZXhhbXBsZS9wcml2YWN5"
  package static let sha256 = "6c73f3406f0b72293c078ac60de297341e892d5a27daded4e796c058241c2f6c"
  /// Of the map inside tag 24.
  package static let innerSHA256 = "7cad7fa3b14a89fe620101e67f1cdfbf58423fe9e4e879d68503a0e2747a6606"
  /// With `aggregator_info`.
  package static let other =
    "2BhZAQ6jbnNjaGVtYV92ZXJzaW9uYnYxZ2Rpc3BsYXmjbGRpc3BsYXlfbmFtZWpPdGhlciBTaG9waGxvZ29fdXJpeB1odHRwczovL3Nob3Au"
    + "ZXhhbXBsZS9sb2dvLnN2Z3Jwcml2YWN5X3BvbGljeV91cml4HGh0dHBzOi8vc2hvcC5leGFtcGxlL3ByaXZhY3lvYWdncmVnYXRvcl9pbmZv"
    + "o2xkaXNwbGF5X25hbWVpUmVnaXN0cmFyaGxvZ29fdXJpeB1odHRwczovL3Nob3AuZXhhbXBsZS9sb2dvLnN2Z3Jwcml2YWN5X3BvbGljeV91"
    + "cml4HGh0dHBzOi8vc2hvcC5leGFtcGxlL3ByaXZhY3k"
}
