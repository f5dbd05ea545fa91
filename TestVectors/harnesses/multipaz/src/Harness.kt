// multipaz: `DeviceResponse.verify`, and `TrustManager.verify` of each document's certificates.

import java.security.Security
import kotlin.time.Instant
import kotlinx.coroutines.runBlocking
import kotlinx.io.bytestring.ByteString
import org.bouncycastle.jce.provider.BouncyCastleProvider
import org.multipaz.cbor.Cbor
import org.multipaz.crypto.Algorithm
import org.multipaz.crypto.AsymmetricKey
import org.multipaz.crypto.EcCurve
import org.multipaz.crypto.EcPrivateKeyDoubleCoordinate
import org.multipaz.crypto.X509Cert
import org.multipaz.mdoc.response.DeviceResponse
import org.multipaz.storage.ephemeral.EphemeralStorage
import org.multipaz.trustmanagement.TrustManager
import org.multipaz.trustmanagement.TrustMetadata

fun verify(question: Question) {
    if (question.protocol != "proximity") throw Unsupported("mdoc over ${question.protocol}")
    val time = Instant.parse(question.validationTime)
    runBlocking {
        val trust = trustManager(question)
        val response = DeviceResponse.fromDataItem(Cbor.decode(question.input))
        response.verify(
            sessionTranscript = Cbor.decode(question.sessionBytes("transcript")),
            eReaderKey = readerKey(question),
            atTime = time,
        )
        for (document in response.documents) {
            val result = trust.verify(document.issuerCertChain.certificates, time, docType = document.docType)
            if (!result.isTrusted) throw IllegalStateException("not trusted: ${result.error}")
        }
    }
}

/** The manager of the trusted anchors. It refuses some wrong anchors, which then count as not trusted. */
suspend fun trustManager(question: Question): TrustManager {
    val manager = TrustManager(EphemeralStorage())
    for (anchor in question.trustedCertificates) {
        try {
            manager.addX509Cert(X509Cert(ByteString(anchor)), TrustMetadata())
        } catch (error: Exception) {
            System.err.println("anchor: $error")
        }
    }
    return manager
}

/** The reader's ephemeral key, for a device MAC; null without it. */
fun readerKey(question: Question): AsymmetricKey? {
    if (!question.session.has("reader_key")) return null
    val point = question.sessionBytes("reader_public_key")
    val key = EcPrivateKeyDoubleCoordinate(
        EcCurve.P256, question.sessionBytes("reader_key"), point.copyOfRange(1, 33), point.copyOfRange(33, 65))
    return AsymmetricKey.anonymous(key, Algorithm.ECDH_P256)
}

fun main() {
    Security.insertProviderAt(BouncyCastleProvider(), 1)
    serve(
        Description(
            name = "multipaz",
            version = "0.102.0",
            profiles = listOf("core"),
            leaves = listOf(
                "strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"),
            use = "DeviceResponse.fromDataItem and DeviceResponse.verify with the transcript, the reader's key and the " +
                "time; for each document TrustManager.verify of issuerCertChain with the time and the document type.",
            documentation = "https://developer.multipaz.org/",
        ),
        ::verify,
    )
}
