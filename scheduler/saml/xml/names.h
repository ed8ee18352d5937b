/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_XML_NAMES_H
#define SCHEDULER_SAML_XML_NAMES_H

/* Namespaces, methods and algorithms of SAML 2.0, XML Signature and XML Encryption. */

#define NS_PROTOCOL  "urn:oasis:names:tc:SAML:2.0:protocol"
#define NS_ASSERTION "urn:oasis:names:tc:SAML:2.0:assertion"
#define NS_METADATA  "urn:oasis:names:tc:SAML:2.0:metadata"
#define NS_DSIG      "http://www.w3.org/2000/09/xmldsig#"
#define NS_XENC      "http://www.w3.org/2001/04/xmlenc#"

#define BINDING_POST     "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
#define BINDING_REDIRECT "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
#define METHOD_BEARER    "urn:oasis:names:tc:SAML:2.0:cm:bearer"
#define STATUS_SUCCESS   "urn:oasis:names:tc:SAML:2.0:status:Success"
#define STATUS_RESPONDER "urn:oasis:names:tc:SAML:2.0:status:Responder"
#define FORMAT_ENTITY    "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"
#define FORMAT_TRANSIENT "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
#define FORMAT_ANY       "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"

#endif
