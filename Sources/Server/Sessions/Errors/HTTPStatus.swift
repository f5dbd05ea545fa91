import Base

extension Code {
  /// The HTTP status that the API answers it with. 200: it is a verdict inside a session, not a failed request.
  package var httpStatus: Int {
    switch self {
    case .sessionProtocolMismatch, .apiMalformedRequest, .apiInvalidRequest, .apiUnknownMember,
      .apiProtocolUnsupported, .apiOriginNotAllowed, .apiOutsideRegistration, .apiWalletUnsupported,
      .apiTooManyAgeRequests, .zkNotProvable,
      .zkCircuitsMissing:
      400
    case .apiUnauthenticated: 401
    case .responseCodeMismatch, .apiForbidden: 403
    case .sessionNotFound, .apiNotFound: 404
    case .apiMethodNotAllowed: 405
    case .sessionAlreadyUsed, .sessionCanceled, .sessionWrongState, .apiIdempotencyInProgress,
      .trustReloadFailed, .configurationReloadFailed:
      409
    case .sessionExpired, .sessionRedacted: 410
    case .apiBodyTooLarge, .apiSessionTooLarge: 413
    case .apiTargetTooLong: 414
    case .apiUnsupportedMediaType: 415
    case .apiIdempotencyKeyReused: 422
    case .apiRateLimited, .apiQuotaExceeded: 429
    case .apiHeadersTooLarge: 431
    case .apiInternal: 500
    case .trustStoreEmpty, .readerCertificateExpired, .apiOverloaded, .apiStoreUnavailable: 503
    default: 200
    }
  }
}
