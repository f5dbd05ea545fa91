/// Names of document types that the standards give, used by more than one rule.
public enum DocType {
  public static let mDL = "org.iso.18013.5.1.mDL"
  public static let photoID = "org.iso.23220.photoid.1"
  /// The other spelling in circulation (drafts of ISO/IEC 23220-4). On the wire it is another document type.
  public static let photoIDDraft = "org.iso.23220.photoID.1"
  public static let europeanPID = "eu.europa.ec.eudi.pid.1"
  public static let europeanAgeVerification = "eu.europa.ec.av.1"
  public static let japanMyNumber = "org.iso.23220.1.jp.mnc"
}

/// Names of namespaces that the standards give.
public enum Namespace {
  public static let mDL = "org.iso.18013.5.1"
  public static let aamva = "org.iso.18013.5.1.aamva"
  public static let iso23220 = "org.iso.23220.1"
  public static let iso23220PhotoID = "org.iso.23220.photoID.1"
  public static let iso23220TravelDocument = "org.iso.23220.dtc.1"
  public static let iso23220Japan = "org.iso.23220.1.jp"
  public static let europeanPID = DocType.europeanPID
  public static let europeanAgeVerification = DocType.europeanAgeVerification
}
