/// The version of this program, as the audit log names it.
public enum ProgramVersion {
  public static let text = "0.6.0"
}
