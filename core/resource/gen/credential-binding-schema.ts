// Generated from crds/ by `npm run generate`. Do not edit.
/** Strict JSON Schema of `spec` of CredentialBinding, without descriptions. */
export const credentialBindingSpecSchema: Record<string, unknown> = {
 "type": "object",
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
   "minLength": 1,
   "maxLength": 100
  },
  "suspended": {
   "type": "object",
   "required": [
    "because"
   ],
   "properties": {
    "because": {
     "type": "string",
     "minLength": 1,
     "maxLength": 500
    }
   },
   "additionalProperties": false
  },
  "secret": {
   "type": "object",
   "required": [
    "name"
   ],
   "properties": {
    "name": {
     "type": "string",
     "pattern": "^postern-[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
     "maxLength": 253
    },
    "revision": {
     "type": "string",
     "minLength": 1,
     "maxLength": 63
    }
   },
   "additionalProperties": false
  },
  "contracts": {
   "type": "array",
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
      "pattern": "^(https|ssh|http)://(\\[[0-9a-f:]+\\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[1-9][0-9]{0,4})?$",
      "maxLength": 300
     },
     "transport": {
      "type": "string",
      "enum": [
       "TLS",
       "Plaintext"
      ]
     },
     "methods": {
      "type": "array",
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
      "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
      "minLength": 1,
      "maxLength": 63
     },
     "signing": {
      "type": "object",
      "required": [
       "service",
       "region"
      ],
      "properties": {
       "service": {
        "type": "string",
        "pattern": "^[a-z0-9-]+$",
        "minLength": 1,
        "maxLength": 63
       },
       "region": {
        "type": "string",
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
   "properties": {
    "bearer": {
     "type": "object",
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
     "required": [
      "name",
      "key"
     ],
     "properties": {
      "name": {
       "type": "string",
       "pattern": "^[a-z0-9-]+$",
       "minLength": 1,
       "maxLength": 127
      },
      "prefix": {
       "type": "string",
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
     "required": [
      "tokenUrl",
      "clientIdKey",
      "clientSecretKey"
     ],
     "properties": {
      "tokenUrl": {
       "type": "string",
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
       "enum": [
        "Basic",
        "Body"
       ]
      },
      "scopes": {
       "type": "array",
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
       "minLength": 1,
       "maxLength": 500
      }
     },
     "additionalProperties": false
    },
    "awsSigV4": {
     "type": "object",
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
      },
      "apiUrl": {
       "type": "string",
       "pattern": "^https://[^?#]+$",
       "maxLength": 2048
      }
     },
     "additionalProperties": false
    },
    "clientCertificate": {
     "type": "object",
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
     "required": [
      "user",
      "privateKeyKey"
     ],
     "properties": {
      "user": {
       "type": "string",
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
  "allowCloudIdentity": {
   "type": "object",
   "required": [
    "because"
   ],
   "properties": {
    "because": {
     "type": "string",
     "minLength": 1,
     "maxLength": 500
    }
   },
   "additionalProperties": false
  },
  "approval": {
   "type": "string",
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
   "pattern": "^[-._a-zA-Z0-9]+$",
   "minLength": 1,
   "maxLength": 253
  }
 }
};
