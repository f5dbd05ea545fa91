/// What the verdicts of a server are worth. It is decided before the server starts, its store records it, and nothing
/// changes it afterwards.
///
/// | | test | staging | live |
/// |---|---|---|---|
/// | certificates of the mock authority | trusted | refused | refused |
/// | certificates for published keys | trusted | warned of | refused |
/// | anchors of the tier `test` | trusted | trusted where the configuration names them | ignored |
/// | mock wallet, page, simulated results | yes | no | no |
/// | `livemode` | false | false | true |
package enum ServerMode: String, Sendable, Hashable, CaseIterable {
  /// `mdoc serve --test-mode`: everything is made by the server itself, and nothing that it verifies is real.
  case test
  /// `"mode": "staging"`: real wallets with documents of sandboxes. In all else it is as strict as live mode.
  case staging
  case live

  /// What replies call `livemode`.
  package var isLive: Bool { self == .live }
}
