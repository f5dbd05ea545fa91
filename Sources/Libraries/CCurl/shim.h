#ifndef MDOC_CCURL_SHIM_H
#define MDOC_CCURL_SHIM_H

/* Handles as types of their own instead of void *; the type checks of curl_easy_setopt need literal options. */
#define CURL_STRICTER
#define CURL_DISABLE_TYPECHECK

#include <netinet/in.h>
#include <string.h>
#include <curl/curl.h>

/* Everything variadic in libcurl, which Swift cannot call, behind functions of fixed arity. */

static inline CURLcode mdoc_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode mdoc_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the text. */
static inline CURLcode mdoc_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the body; it must know its size before. */
static inline CURLcode mdoc_curl_set_body(CURL *easy, const void *bytes, curl_off_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

/* libcurl keeps the pointer: the list must live as long as the handle uses it. */
static inline CURLcode mdoc_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

struct mdoc_curl_callbacks {
  curl_write_callback on_body;
  curl_write_callback on_header;
  curl_xferinfo_callback on_progress;
  curl_opensocket_callback on_socket;
  curl_prereq_callback on_connected;
  void *context; /* last argument of the first two, first of the others */
};

static inline CURLcode mdoc_curl_set_callbacks(CURL *easy, const struct mdoc_curl_callbacks *c) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, c->on_body);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, c->context);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, c->on_header);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, c->context);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, c->on_progress);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, c->context);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, c->on_socket);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, c->context);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, c->on_connected);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PREREQDATA, c->context);
  return code;
}

/* The octets (4 or 16) and the port of the address that is about to be connected to; 0 for any other family. libcurl
   declares `addr` shorter than an IPv6 address, and allots what `addrlen` says. */
static inline size_t mdoc_curl_peer(const struct curl_sockaddr *peer, unsigned char octets[16], unsigned short *port) {
  if (peer->family == AF_INET && peer->addrlen >= sizeof(struct sockaddr_in)) {
    struct sockaddr_in four;
    memcpy(&four, (const void *)&peer->addr, sizeof four);
    memcpy(octets, &four.sin_addr, 4);
    *port = ntohs(four.sin_port);
    return 4;
  }
  if (peer->family == AF_INET6 && peer->addrlen >= sizeof(struct sockaddr_in6)) {
    struct sockaddr_in6 six;
    memcpy(&six, (const void *)&peer->addr, sizeof six);
    memcpy(octets, &six.sin6_addr, 16);
    *port = ntohs(six.sin6_port);
    return 16;
  }
  return 0;
}

#endif
