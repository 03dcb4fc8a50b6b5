// SPDX-License-Identifier: GPL-2.0-only
/* Compiled only if GnuTLS is available. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "ship_tls.h"

struct tls {
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
};

/* Return: false with @reason set if @code is an error. */
static bool good(int code, const char *what, char *reason)
{
	if (code >= 0)
		return true;
	/* On a blocking socket, GNUTLS_E_AGAIN means that the time limit has passed. */
	snprintf(reason, LINK_REASON, "%s: %s", what,
		 code == GNUTLS_E_AGAIN ? strerror(ETIMEDOUT) : gnutls_strerror(code));
	return false;
}

static bool load_files(struct tls *tls, const struct link_target *target, char *reason)
{
	int code;

	if (target->ca)
		code = gnutls_certificate_set_x509_trust_file(tls->credentials, target->ca,
							      GNUTLS_X509_FMT_PEM);
	else
		code = gnutls_certificate_set_x509_system_trust(tls->credentials);
	if (!good(code, target->ca ? target->ca : "the system's certificates", reason))
		return false;
	if (!target->cert)
		return true;
	code = gnutls_certificate_set_x509_key_file(tls->credentials, target->cert, target->key,
						    GNUTLS_X509_FMT_PEM);
	return good(code, target->cert, reason);
}

static bool shake_hands(struct tls *tls, const struct link_target *target, char *reason)
{
	gnutls_datum_t text;
	unsigned int status;
	int code;

	do {
		code = gnutls_handshake(tls->session);
	} while (code < 0 && code != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(code));
	if (code != GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
		return good(code, "TLS", reason);
	status = gnutls_session_get_verify_cert_status(tls->session);
	if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) < 0)
		return good(code, "TLS", reason);
	snprintf(reason, LINK_REASON, "the certificate of %.80s: %.120s", target->host, text.data);
	gnutls_free(text.data);
	return false;
}

/* gnutls_server_name_set() accepts only names. Addresses are verified all the same. */
static bool is_address(const char *host)
{
	return strchr(host, ':') || !host[strspn(host, "0123456789.")];
}

struct tls *tls_start(int fd, const struct link_target *target, char *reason)
{
	struct tls *tls = calloc(1, sizeof(*tls));
	bool started;

	if (!tls) {
		snprintf(reason, LINK_REASON, "%s", strerror(ENOMEM));
		return NULL;
	}
	started = good(gnutls_certificate_allocate_credentials(&tls->credentials), "TLS", reason) &&
		  load_files(tls, target, reason) &&
		  good(gnutls_init(&tls->session, GNUTLS_CLIENT), "TLS", reason) &&
		  good(gnutls_set_default_priority(tls->session), "TLS", reason) &&
		  good(gnutls_credentials_set(tls->session, GNUTLS_CRD_CERTIFICATE,
					      tls->credentials), "TLS", reason);
	if (started) {
		if (!is_address(target->host))
			gnutls_server_name_set(tls->session, GNUTLS_NAME_DNS, target->host,
					       strlen(target->host));
		gnutls_session_set_verify_cert(tls->session, target->host, 0);
		gnutls_transport_set_int(tls->session, fd);
		started = shake_hands(tls, target, reason);
	}
	if (started)
		return tls;
	tls_stop(tls);
	return NULL;
}

ssize_t tls_send(struct tls *tls, const void *data, size_t bytes, char *reason)
{
	ssize_t sent;

	do {
		sent = gnutls_record_send(tls->session, data, bytes);
	} while (sent == GNUTLS_E_INTERRUPTED);
	return good(sent, "TLS", reason) ? sent : -1;
}

/* Does more data arrive within the time limit? */
static bool readable(const struct tls *tls)
{
	struct pollfd polled = { .fd = gnutls_transport_get_int(tls->session), .events = POLLIN };

	return gnutls_record_check_pending(tls->session) ||
	       poll(&polled, 1, LINK_SECONDS * 1000) > 0;
}

ssize_t tls_receive(struct tls *tls, void *data, size_t bytes, char *reason)
{
	ssize_t got;

	/* TLS's own messages, such as session tickets, also cause GNUTLS_E_AGAIN. */
	do {
		got = gnutls_record_recv(tls->session, data, bytes);
	} while (got < 0 && !gnutls_error_is_fatal(got) &&
		 (got != GNUTLS_E_AGAIN || readable(tls)));
	return good(got, "TLS", reason) ? got : -1;
}

void tls_stop(struct tls *tls)
{
	if (!tls)
		return;
	if (tls->session)
		gnutls_deinit(tls->session);
	if (tls->credentials)
		gnutls_certificate_free_credentials(tls->credentials);
	free(tls);
}
