// Generated from crds/ by `npm run generate`. Do not edit.
/** Strict JSON Schema of `spec` of CredentialBinding. */
export const credentialBindingSpecSchema: Record<string, unknown> = {
 "type": "object",
 "description": "Whose credential it is, where it may go, how it is attached.",
 "required": [
  "owner",
  "secret",
  "contracts",
  "destinations",
  "use"
 ],
 "properties": {
  "owner": {
   "type": "string",
   "description": "The team that owns the credential. Example: `developer-platform`.",
   "minLength": 1,
   "maxLength": 100
  },
  "suspended": {
   "type": "object",
   "description": "Kill switch: while it stands, no contract can use this credential. Example: `{because: leaked on 3 May}`.",
   "required": [
    "because"
   ],
   "properties": {
    "because": {
     "type": "string",
     "description": "Why; people and agents read it.",
     "minLength": 1,
     "maxLength": 500
    }
   },
   "additionalProperties": false
  },
  "secret": {
   "type": "object",
   "description": "The Secret of this namespace. Example: `{name: postern-github-triage-app}`.",
   "required": [
    "name"
   ],
   "properties": {
    "name": {
     "type": "string",
     "description": "Its name begins with `postern-`: the name is the owner's consent. Example: `postern-github-triage-app`.",
     "pattern": "^postern-[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
     "maxLength": 253
    },
    "revision": {
     "type": "string",
     "description": "Change it to announce a new value; pods read it at once. Example: `2027-05-03`.",
     "minLength": 1,
     "maxLength": 63
    }
   },
   "additionalProperties": false
  },
  "contracts": {
   "type": "array",
   "description": "The contracts that may use this binding; empty means it is only a hop for others. Example: `[list-open-issues, search-code]`.",
   "maxItems": 100,
   "items": {
    "type": "string",
    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "minLength": 1,
    "maxLength": 63
   },
   "uniqueItems": true
  },
  "destinations": {
   "type": "array",
   "description": "Where the credential may go, and nowhere else. Example: `[{origin: https://api.github.com, methods: [GET], pathPrefixes: [/repos/acme/]}]`.",
   "minItems": 1,
   "maxItems": 32,
   "x-kubernetes-list-map-keys": [
    "origin"
   ],
   "items": {
    "type": "object",
    "required": [
     "origin"
    ],
    "properties": {
     "origin": {
      "type": "string",
      "description": "Literal and canonical: `https://host[:port]`, `ssh://host:port`, or `http://ADDRESS:port` with a literal address. Example: `https://api.github.com`.",
      "pattern": "^(https|ssh|http)://(\\[[0-9a-f:]+\\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?$",
      "maxLength": 300
     },
     "transport": {
      "type": "string",
      "description": "`Plaintext` sends the credential readable by everyone on the way; shown as a condition. Default `TLS`.",
      "enum": [
       "TLS",
       "Plaintext"
      ]
     },
     "methods": {
      "type": "array",
      "description": "Narrows the methods of contracts. Default: all. Example: `[GET]`.",
      "minItems": 1,
      "maxItems": 6,
      "items": {
       "type": "string",
       "enum": [
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE"
       ]
      },
      "uniqueItems": true
     },
     "pathPrefixes": {
      "type": "array",
      "description": "Narrows the paths, by whole segments; a trailing `*` matches inside the last one. Default: all. Example: `[/repos/acme/]`.",
      "minItems": 1,
      "maxItems": 32,
      "items": {
       "type": "string",
       "pattern": "^/",
       "maxLength": 500
      }
     },
     "addresses": {
      "type": "array",
      "description": "Address ranges the name may resolve to; private ranges must be named. Default: public addresses only. Example: `[10.20.0.0/16]`.",
      "minItems": 1,
      "maxItems": 32,
      "items": {
       "type": "string",
       "pattern": "^[0-9a-f.:]+/[0-9]{1,3}$",
       "maxLength": 49
      }
     },
     "ca": {
      "type": "object",
      "description": "Trust this certificate authority instead of the system's. Example: `{key: ca.crt}`.",
      "required": [
       "key"
      ],
      "properties": {
       "key": {
        "$ref": "#/$defs/secretKey"
       }
      },
      "additionalProperties": false
     },
     "hostKeys": {
      "type": "array",
      "description": "Fingerprints of the SSH host. Example: `[\"SHA256:AAAA...\"]`.",
      "minItems": 1,
      "maxItems": 8,
      "items": {
       "type": "string",
       "pattern": "^SHA256:[A-Za-z0-9+/]{43}$",
       "maxLength": 50
      }
     },
     "via": {
      "type": "string",
      "description": "A binding that is the hop before this one; whoever writes this needs `use` on it. Example: `bastion`.",
      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
      "minLength": 1,
      "maxLength": 63
     },
     "signing": {
      "type": "object",
      "description": "For awsSigV4: what the signature is for. Example: `{service: s3, region: eu-central-1}`.",
      "required": [
       "service",
       "region"
      ],
      "properties": {
       "service": {
        "type": "string",
        "description": "Signing name of the service. Example: `dynamodb`.",
        "pattern": "^[a-z0-9-]+$",
        "minLength": 1,
        "maxLength": 63
       },
       "region": {
        "type": "string",
        "description": "Region. Example: `eu-central-1`.",
        "pattern": "^[a-z0-9-]+$",
        "minLength": 1,
        "maxLength": 63
       }
      },
      "additionalProperties": false
     }
    },
    "additionalProperties": false
   }
  },
  "use": {
   "type": "object",
   "description": "How the credential is attached; every field ending in Key names a key of the Secret. Example: `{bearer: {key: token}}`.",
   "properties": {
    "bearer": {
     "type": "object",
     "description": "`authorization: Bearer ...` (RFC 6750). Example: `{key: token}`.",
     "required": [
      "key"
     ],
     "properties": {
      "key": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    },
    "header": {
     "type": "object",
     "description": "Another header. Example: `{name: authorization, prefix: \"ApiKey \", key: api-key}`.",
     "required": [
      "name",
      "key"
     ],
     "properties": {
      "name": {
       "type": "string",
       "description": "Lower-case header name. Example: `private-token`.",
       "pattern": "^[a-z0-9-]+$",
       "minLength": 1,
       "maxLength": 127
      },
      "prefix": {
       "type": "string",
       "description": "Text before the value. Example: `Token token=`.",
       "maxLength": 63
      },
      "key": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    },
    "basic": {
     "type": "object",
     "description": "User name and password (RFC 7617). Example: `{usernameKey: email, passwordKey: api-token}`.",
     "required": [
      "usernameKey",
      "passwordKey"
     ],
     "properties": {
      "usernameKey": {
       "$ref": "#/$defs/secretKey"
      },
      "passwordKey": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    },
    "oauth2ClientCredentials": {
     "type": "object",
     "description": "A token from a token endpoint (RFC 6749, 4.4). Example: `{tokenUrl: \"https://login.example.com/token\", clientIdKey: id, clientSecretKey: secret, scopes: [read]}`.",
     "required": [
      "tokenUrl",
      "clientIdKey",
      "clientSecretKey"
     ],
     "properties": {
      "tokenUrl": {
       "type": "string",
       "description": "Its origin must be one of the destinations, whose address ranges and CA apply; methods and pathPrefixes do not. Example: `https://login.example.com/oauth2/token`.",
       "pattern": "^https?://[^?#]+$",
       "maxLength": 2048
      },
      "clientIdKey": {
       "$ref": "#/$defs/secretKey"
      },
      "clientSecretKey": {
       "$ref": "#/$defs/secretKey"
      },
      "authentication": {
       "type": "string",
       "description": "Where the client's secret stands. Default `Basic`.",
       "enum": [
        "Basic",
        "Body"
       ]
      },
      "scopes": {
       "type": "array",
       "description": "Scopes asked for. Example: `[read]`.",
       "maxItems": 32,
       "items": {
        "type": "string",
        "pattern": "^[!#-\\[\\]-~]+$",
        "minLength": 1,
        "maxLength": 200
       }
      },
      "audience": {
       "type": "string",
       "description": "Audience asked for, where the service wants one. Example: `https://api.example.com`.",
       "minLength": 1,
       "maxLength": 500
      }
     },
     "additionalProperties": false
    },
    "awsSigV4": {
     "type": "object",
     "description": "AWS Signature Version 4. Example: `{accessKeyIdKey: access-key-id, secretAccessKeyKey: secret-access-key}`.",
     "required": [
      "accessKeyIdKey",
      "secretAccessKeyKey"
     ],
     "properties": {
      "accessKeyIdKey": {
       "$ref": "#/$defs/secretKey"
      },
      "secretAccessKeyKey": {
       "$ref": "#/$defs/secretKey"
      },
      "sessionTokenKey": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    },
    "githubApp": {
     "type": "object",
     "description": "An installation token of a GitHub App. Example: `{appIdKey: app-id, installationIdKey: installation-id, privateKeyKey: private-key.pem}`.",
     "required": [
      "appIdKey",
      "installationIdKey",
      "privateKeyKey"
     ],
     "properties": {
      "appIdKey": {
       "$ref": "#/$defs/secretKey"
      },
      "installationIdKey": {
       "$ref": "#/$defs/secretKey"
      },
      "privateKeyKey": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    },
    "clientCertificate": {
     "type": "object",
     "description": "A TLS client certificate. Example: `{certificateKey: tls.crt, privateKeyKey: tls.key}`.",
     "required": [
      "certificateKey",
      "privateKeyKey"
     ],
     "properties": {
      "certificateKey": {
       "$ref": "#/$defs/secretKey"
      },
      "privateKeyKey": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    },
    "sshKey": {
     "type": "object",
     "description": "An SSH key. Example: `{user: postern-logs, privateKeyKey: id_ed25519}`.",
     "required": [
      "user",
      "privateKeyKey"
     ],
     "properties": {
      "user": {
       "type": "string",
       "description": "Login name. Example: `postern-logs`.",
       "pattern": "^[a-z_][a-z0-9_.-]*$",
       "minLength": 1,
       "maxLength": 63
      },
      "privateKeyKey": {
       "$ref": "#/$defs/secretKey"
      },
      "passphraseKey": {
       "$ref": "#/$defs/secretKey"
      }
     },
     "additionalProperties": false
    }
   },
   "additionalProperties": false,
   "allOf": [
    {
     "x-postern-exactly-one": {
      "names": [
       "bearer",
       "header",
       "basic",
       "oauth2ClientCredentials",
       "awsSigV4",
       "githubApp",
       "clientCertificate",
       "sshKey"
      ],
      "message": "a credential is attached in exactly one way"
     },
     "oneOf": [
      {
       "required": [
        "bearer"
       ]
      },
      {
       "required": [
        "header"
       ]
      },
      {
       "required": [
        "basic"
       ]
      },
      {
       "required": [
        "oauth2ClientCredentials"
       ]
      },
      {
       "required": [
        "awsSigV4"
       ]
      },
      {
       "required": [
        "githubApp"
       ]
      },
      {
       "required": [
        "clientCertificate"
       ]
      },
      {
       "required": [
        "sshKey"
       ]
      }
     ]
    }
   ]
  },
  "approval": {
   "type": "string",
   "description": "`EachUse`: a person for every effect, whatever a contract says. Default `ContractDecides`.",
   "enum": [
    "ContractDecides",
    "EachUse"
   ]
  }
 },
 "additionalProperties": false,
 "$defs": {
  "secretKey": {
   "type": "string",
   "description": "A key of the Secret. Example: `token`.",
   "pattern": "^[-._a-zA-Z0-9]+$",
   "minLength": 1,
   "maxLength": 253
  }
 }
};
