import Base

extension Code {
  /// What a wallet's `error` says (OpenID4VP 1.0, 8.5; RFC 6749, 4.1.2.1).
  public init(walletError name: String) {
    self =
      switch name {
      case "access_denied": .walletAccessDenied
      case "invalid_request": .walletInvalidRequest
      case "invalid_client": .walletInvalidClient
      case "vp_formats_not_supported": .walletFormatsNotSupported
      case "invalid_request_uri_method": .walletInvalidRequestURIMethod
      case "invalid_transaction_data": .walletInvalidTransactionData
      case "wallet_unavailable": .walletUnavailable
      default: .walletOtherError
      }
  }
}
