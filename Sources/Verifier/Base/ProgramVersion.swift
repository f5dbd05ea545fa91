/// The version of this program, as the audit log names it.
public enum ProgramVersion {
  public static let text = "0.6.0"
  /// The day of the release, for manual pages; before the release that of its last change. A build on another day says
  /// the same.
  public static let date = "2026-11-25"
}
