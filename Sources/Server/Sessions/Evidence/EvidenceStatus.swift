/// What became of a verified session's evidence, where the relying party's policy asks for it.
package enum EvidenceStatus: String, Sendable, Hashable, CaseIterable {
  case kept
  /// The answer disclosed an element that was not requested with `intent_to_retain: true`. The bundle would hold the
  /// whole answer, since nothing can be taken out of what was signed.
  case declined
  /// With the lists that its revocation rests on, the bundle would be larger than the limits; or it nests deeper.
  case tooLarge = "too_large"
  /// Kept, and erased on the day of the value that may be kept the least.
  case erased
}
