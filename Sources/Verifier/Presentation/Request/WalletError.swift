import Base

/// A wallet's error response to a request (OpenID4VP 1.0, 8.5; RFC 6749, 4.1.2.1).
public enum WalletError: String, Sendable, CaseIterable {
  case accessDenied = "access_denied"
  case invalidRequest = "invalid_request"
  case invalidClient = "invalid_client"
  case formatsNotSupported = "vp_formats_not_supported"
  case invalidRequestURIMethod = "invalid_request_uri_method"
  case invalidTransactionData = "invalid_transaction_data"
  case unavailable = "wallet_unavailable"

  /// The error for a request with this fault.
  public init(for code: Code) {
    self =
      switch code {
      case .readerUntrusted, .readerCertificateProfile: .invalidClient
      case .requestFormatUnsupported: .formatsNotSupported
      case .requestURIMethodUnknown: .invalidRequestURIMethod
      case .requestTransactionDataMalformed, .requestTransactionDataUnknown: .invalidTransactionData
      default: .invalidRequest
      }
  }

  /// The session's final code after this error.
  public var code: Code {
    switch self {
    case .accessDenied: .walletAccessDenied
    case .invalidRequest: .walletInvalidRequest
    case .invalidClient: .walletInvalidClient
    case .formatsNotSupported: .walletFormatsNotSupported
    case .invalidRequestURIMethod: .walletInvalidRequestURIMethod
    case .invalidTransactionData: .walletInvalidTransactionData
    case .unavailable: .walletUnavailable
    }
  }
}

extension Code {
  /// The code for a wallet's `error`, even if the standard does not define that error.
  public init(walletError name: String) { self = WalletError(rawValue: name)?.code ?? .walletOtherError }
}
