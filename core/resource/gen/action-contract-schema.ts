// Generated from crds/ by `npm run generate`. Do not edit.
/** Strict JSON Schema of `spec` of ActionContract, without descriptions. */
export const actionContractSpecSchema: Record<string, unknown> = {
 "type": "object",
 "required": [
  "action",
  "summary",
  "owner",
  "effect",
  "callers",
  "credentials",
  "arguments"
 ],
 "properties": {
  "action": {
   "type": "string",
   "pattern": "^[a-z][a-z0-9_]{0,62}$",
   "maxLength": 63
  },
  "summary": {
   "$ref": "#/$defs/summary"
  },
  "owner": {
   "$ref": "#/$defs/owner"
  },
  "effect": {
   "type": "string",
   "enum": [
    "Read",
    "Write",
    "Destructive"
   ]
  },
  "readOnlyBecause": {
   "type": "string",
   "minLength": 1,
   "maxLength": 500
  },
  "callers": {
   "type": "array",
   "minItems": 1,
   "maxItems": 50,
   "x-kubernetes-list-map-keys": [
    "serviceAccount"
   ],
   "items": {
    "type": "object",
    "required": [
     "serviceAccount"
    ],
    "properties": {
     "serviceAccount": {
      "type": "string",
      "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
      "minLength": 1,
      "maxLength": 253
     }
    },
    "additionalProperties": false
   }
  },
  "credentials": {
   "type": "array",
   "minItems": 1,
   "maxItems": 8,
   "items": {
    "$ref": "#/$defs/objectName"
   },
   "uniqueItems": true
  },
  "suspended": {
   "$ref": "#/$defs/suspended"
  },
  "arguments": {
   "type": "object"
  },
  "resolve": {
   "type": "object",
   "maxProperties": 32,
   "additionalProperties": {
    "type": "object",
    "maxProperties": 256,
    "additionalProperties": {
     "type": "object"
    }
   }
  },
  "constants": {
   "type": "object"
  },
  "http": {
   "type": "object",
   "required": [
    "credential",
    "method",
    "url"
   ],
   "properties": {
    "credential": {
     "type": "string",
     "minLength": 1,
     "maxLength": 253
    },
    "method": {
     "$ref": "#/$defs/method"
    },
    "url": {
     "$ref": "#/$defs/url"
    },
    "query": {
     "$ref": "#/$defs/query"
    },
    "headers": {
     "$ref": "#/$defs/headers"
    },
    "body": {
     "$ref": "#/$defs/body"
    },
    "open": {
     "type": "object",
     "required": [
      "method",
      "url",
      "values"
     ],
     "properties": {
      "method": {
       "$ref": "#/$defs/method"
      },
      "url": {
       "$ref": "#/$defs/url"
      },
      "query": {
       "$ref": "#/$defs/query"
      },
      "headers": {
       "$ref": "#/$defs/headers"
      },
      "body": {
       "$ref": "#/$defs/body"
      },
      "values": {
       "type": "object",
       "minProperties": 1,
       "maxProperties": 16,
       "additionalProperties": {
        "type": "string",
        "pattern": "^/",
        "maxLength": 500
       }
      }
     },
     "additionalProperties": false
    },
    "next": {
     "$ref": "#/$defs/request"
    },
    "close": {
     "$ref": "#/$defs/close"
    }
   },
   "additionalProperties": false
  },
  "ssh": {
   "type": "object",
   "required": [
    "credential",
    "host",
    "argv",
    "shell"
   ],
   "properties": {
    "credential": {
     "$ref": "#/$defs/objectName"
    },
    "host": {
     "type": "string",
     "minLength": 1,
     "maxLength": 253
    },
    "argv": {
     "type": "array",
     "minItems": 1,
     "maxItems": 64,
     "items": {
      "type": "string",
      "maxLength": 4096
     }
    },
    "shell": {
     "type": "string",
     "enum": [
      "Posix",
      "ForcedCommand"
     ]
    },
    "stdin": {}
   },
   "additionalProperties": false
  },
  "prepare": {
   "type": "object",
   "required": [
    "contract",
    "arguments",
    "fields"
   ],
   "properties": {
    "contract": {
     "$ref": "#/$defs/objectName"
    },
    "arguments": {
     "$ref": "#/$defs/callArguments"
    },
    "fields": {
     "type": "array",
     "minItems": 1,
     "maxItems": 16,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": 63
       },
       "path": {
        "$ref": "#/$defs/path"
       },
       "after": {
        "type": "string",
        "maxLength": 500
       }
      },
      "additionalProperties": false
     }
    }
   },
   "additionalProperties": false
  },
  "result": {
   "$ref": "#/$defs/result"
  },
  "completeness": {
   "$ref": "#/$defs/completeness"
  },
  "forEach": {
   "type": "object",
   "required": [
    "argument",
    "order",
    "onFailure"
   ],
   "properties": {
    "argument": {
     "$ref": "#/$defs/argumentPath"
    },
    "order": {
     "type": "string",
     "enum": [
      "Sequential"
     ]
    },
    "onFailure": {
     "type": "string",
     "enum": [
      "Stop",
      "Continue"
     ]
    }
   },
   "additionalProperties": false
  },
  "evidence": {
   "type": "object",
   "required": [
    "from",
    "ids",
    "claim",
    "maxAge",
    "match"
   ],
   "properties": {
    "from": {
     "$ref": "#/$defs/objectName"
    },
    "ids": {
     "$ref": "#/$defs/argumentPath"
    },
    "claim": {
     "type": "string",
     "enum": [
      "Listed",
      "Absent"
     ]
    },
    "maxAge": {
     "$ref": "#/$defs/duration"
    },
    "onIncomplete": {
     "type": "string",
     "enum": [
      "Refuse",
      "RequestReview"
     ]
    },
    "match": {
     "type": "array",
     "maxItems": 32,
     "x-kubernetes-list-map-keys": [
      "evidenceArgument"
     ],
     "items": {
      "type": "object",
      "required": [
       "evidenceArgument"
      ],
      "properties": {
       "evidenceArgument": {
        "$ref": "#/$defs/argumentName"
       },
       "argument": {
        "$ref": "#/$defs/argumentName"
       },
       "constant": {}
      },
      "additionalProperties": false,
      "allOf": [
       {
        "x-postern-exactly-one": {
         "names": [
          "argument",
          "constant"
         ],
         "message": "exactly one of argument, constant is needed"
        },
        "oneOf": [
         {
          "required": [
           "argument"
          ]
         },
         {
          "required": [
           "constant"
          ]
         }
        ]
       }
      ]
     }
    },
    "proof": {
     "type": "string",
     "enum": [
      "Checked",
      "Declared"
     ]
    }
   },
   "additionalProperties": false
  },
  "recheck": {
   "type": "object",
   "required": [
    "contract",
    "arguments",
    "expect"
   ],
   "properties": {
    "contract": {
     "$ref": "#/$defs/objectName"
    },
    "arguments": {
     "$ref": "#/$defs/callArguments"
    },
    "expect": {
     "$ref": "#/$defs/resultCel"
    }
   },
   "additionalProperties": false
  },
  "idempotency": {
   "type": "object",
   "required": [
    "mode"
   ],
   "properties": {
    "mode": {
     "type": "string",
     "enum": [
      "None",
      "Natural",
      "Key"
     ]
    },
    "header": {
     "type": "string",
     "minLength": 1,
     "maxLength": 127
    },
    "body": {
     "$ref": "#/$defs/path"
    },
    "form": {
     "type": "string",
     "minLength": 1,
     "maxLength": 127
    },
    "ttl": {
     "type": "string",
     "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
     "maxLength": 12
    },
    "settle": {
     "type": "object",
     "required": [
      "contract",
      "arguments",
      "done"
     ],
     "properties": {
      "contract": {
       "$ref": "#/$defs/objectName"
      },
      "arguments": {
       "$ref": "#/$defs/callArguments"
      },
      "after": {
       "$ref": "#/$defs/duration"
      },
      "done": {
       "$ref": "#/$defs/resultCel"
      },
      "notDone": {
       "$ref": "#/$defs/resultCel"
      }
     },
     "additionalProperties": false
    }
   },
   "additionalProperties": false
  },
  "approval": {
   "type": "object",
   "required": [
    "mode"
   ],
   "properties": {
    "mode": {
     "type": "string",
     "enum": [
      "None",
      "Session",
      "EachCall"
     ]
    },
    "calls": {
     "type": "integer",
     "minimum": 1,
     "maximum": 10000
    },
    "vary": {
     "type": "array",
     "maxItems": 16,
     "items": {
      "$ref": "#/$defs/argumentPath"
     }
    },
    "expiresAfter": {
     "type": "string",
     "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
     "maxLength": 12
    },
    "reason": {
     "$ref": "#/$defs/argumentPath"
    },
    "because": {
     "$ref": "#/$defs/because"
    }
   },
   "additionalProperties": false
  },
  "warnings": {
   "type": "array",
   "maxItems": 64,
   "x-kubernetes-list-map-keys": [
    "name"
   ],
   "items": {
    "type": "object",
    "required": [
     "name",
     "code",
     "owner",
     "expires",
     "message"
    ],
    "properties": {
     "name": {
      "type": "string",
      "pattern": "^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$",
      "minLength": 1,
      "maxLength": 63
     },
     "code": {
      "type": "string",
      "enum": [
       "STALE_INDEX",
       "PARTIAL_FIELD_SET",
       "DEFAULT_SCOPE_APPLIED",
       "DEPRECATED_FIELD",
       "VALUE_NORMALIZED",
       "ORDER_REPLACED",
       "UPSTREAM_NOTICE",
       "CREDENTIAL_REFLECTED"
      ]
     },
     "owner": {
      "$ref": "#/$defs/owner"
     },
     "expires": {
      "type": "string",
      "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
      "maxLength": 10
     },
     "message": {
      "type": "string",
      "minLength": 1,
      "maxLength": 500
     }
    },
    "additionalProperties": false
   }
  }
 },
 "additionalProperties": false,
 "allOf": [
  {
   "x-postern-exactly-one": {
    "names": [
     "http",
     "ssh"
    ],
    "message": "a contract has exactly one target: http or ssh"
   },
   "oneOf": [
    {
     "required": [
      "http"
     ]
    },
    {
     "required": [
      "ssh"
     ]
    }
   ]
  }
 ],
 "$defs": {
  "allFields": {
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
  "argumentName": {
   "type": "string",
   "minLength": 1,
   "maxLength": 63
  },
  "argumentPath": {
   "type": "string",
   "pattern": "^/",
   "maxLength": 500
  },
  "because": {
   "type": "string",
   "minLength": 1,
   "maxLength": 500
  },
  "body": {
   "type": "object",
   "properties": {
    "json": {},
    "form": {
     "type": "object",
     "maxProperties": 64,
     "additionalProperties": {
      "type": "string",
      "maxLength": 8192
     }
    },
    "text": {
     "type": "string",
     "maxLength": 65536
    },
    "contentType": {
     "type": "string",
     "maxLength": 200
    }
   },
   "additionalProperties": false,
   "allOf": [
    {
     "x-postern-exactly-one": {
      "names": [
       "json",
       "form",
       "text"
      ],
      "message": "exactly one of json, form, text is needed"
     },
     "oneOf": [
      {
       "required": [
        "json"
       ]
      },
      {
       "required": [
        "form"
       ]
      },
      {
       "required": [
        "text"
       ]
      }
     ]
    }
   ]
  },
  "callArguments": {
   "type": "object"
  },
  "cel": {
   "type": "string",
   "minLength": 1,
   "maxLength": 4096
  },
  "close": {
   "type": "object",
   "required": [
    "method",
    "url"
   ],
   "properties": {
    "method": {
     "$ref": "#/$defs/method"
    },
    "url": {
     "$ref": "#/$defs/url"
    },
    "query": {
     "$ref": "#/$defs/query"
    },
    "headers": {
     "$ref": "#/$defs/headers"
    },
    "body": {
     "$ref": "#/$defs/body"
    }
   },
   "additionalProperties": false
  },
  "completeness": {
   "type": "object",
   "properties": {
    "preset": {
     "type": "string",
     "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
     "maxLength": 63
    },
    "without": {
     "type": "array",
     "maxItems": 32,
     "x-kubernetes-list-map-keys": [
      "list",
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "list",
       "name",
       "because"
      ],
      "properties": {
       "list": {
        "type": "string",
        "enum": [
         "outcomes",
         "next",
         "required",
         "signals",
         "notices",
         "totals",
         "freshness"
        ]
       },
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "because": {
        "type": "string",
        "minLength": 1,
        "maxLength": 500
       }
      },
      "additionalProperties": false
     }
    },
    "paging": {
     "type": "object",
     "properties": {
      "mode": {
       "type": "string",
       "enum": [
        "Walk",
        "SingleResponse"
       ]
      },
      "next": {
       "type": "array",
       "minItems": 1,
       "maxItems": 8,
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "from"
        ],
        "properties": {
         "name": {
          "$ref": "#/$defs/partName"
         },
         "from": {
          "$ref": "#/$defs/locators"
         },
         "initial": {
          "type": "string",
          "maxLength": 2048
         },
         "presence": {
          "$ref": "#/$defs/presence"
         }
        },
        "additionalProperties": false
       }
      },
      "follow": {
       "type": "object",
       "required": [
        "from",
        "vary"
       ],
       "properties": {
        "from": {
         "$ref": "#/$defs/locators"
        },
        "paths": {
         "type": "array",
         "maxItems": 8,
         "items": {
          "type": "string",
          "pattern": "^/",
          "maxLength": 500
         }
        },
        "vary": {
         "type": "array",
         "minItems": 1,
         "maxItems": 16,
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 200
         }
        }
       },
       "additionalProperties": false
      },
      "counter": {
       "type": "object",
       "required": [
        "name",
        "unit"
       ],
       "properties": {
        "name": {
         "$ref": "#/$defs/partName"
        },
        "unit": {
         "type": "string",
         "enum": [
          "Item",
          "Page"
         ]
        },
        "start": {
         "type": "integer",
         "minimum": 0,
         "maximum": 1000000
        },
        "stride": {
         "type": "string",
         "enum": [
          "Returned",
          "Requested",
          "Echoed"
         ]
        },
        "echo": {
         "$ref": "#/$defs/locator"
        }
       },
       "additionalProperties": false
      },
      "end": {
       "type": "object",
       "properties": {
        "nextIs": {
         "type": "array",
         "minItems": 1,
         "maxItems": 6,
         "items": {
          "type": "string",
          "enum": [
           "Absent",
           "NullValue",
           "EmptyString",
           "EmptyObject",
           "EmptyList",
           "SameAsSent"
          ]
         },
         "uniqueItems": true
        },
        "flag": {
         "type": "object",
         "required": [
          "from",
          "equals"
         ],
         "properties": {
          "from": {
           "$ref": "#/$defs/locator"
          },
          "equals": {
           "type": "string",
           "maxLength": 200
          },
          "presence": {
           "$ref": "#/$defs/presence"
          }
         },
         "additionalProperties": false
        },
        "lastPage": {
         "type": "object",
         "required": [
          "from",
          "as"
         ],
         "properties": {
          "from": {
           "$ref": "#/$defs/locator"
          },
          "as": {
           "type": "string",
           "enum": [
            "Number",
            "Length"
           ]
          }
         },
         "additionalProperties": false
        },
        "marker": {
         "type": "object",
         "required": [
          "from"
         ],
         "properties": {
          "from": {
           "$ref": "#/$defs/locator"
          }
         },
         "additionalProperties": false
        },
        "total": {
         "type": "string",
         "minLength": 1,
         "maxLength": 63
        },
        "pageIs": {
         "type": "array",
         "minItems": 1,
         "maxItems": 2,
         "items": {
          "type": "string",
          "enum": [
           "Empty",
           "Short"
          ]
         },
         "uniqueItems": true
        }
       },
       "additionalProperties": false
      },
      "remainder": {
       "type": "string",
       "enum": [
        "Pages",
        "Leftovers"
       ]
      }
     },
     "additionalProperties": false
    },
    "consistency": {
     "type": "object",
     "required": [
      "mode"
     ],
     "properties": {
      "mode": {
       "type": "string",
       "enum": [
        "SinglePage",
        "SnapshotKey",
        "SnapshotHandle",
        "Keyset",
        "Declared"
       ]
      },
      "equal": {
       "$ref": "#/$defs/locators"
      },
      "when": {
       "$ref": "#/$defs/cel"
      },
      "because": {
       "$ref": "#/$defs/because"
      }
     },
     "additionalProperties": false
    },
    "required": {
     "type": "array",
     "maxItems": 32,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name",
       "anyOf"
      ],
      "properties": {
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "anyOf": {
        "$ref": "#/$defs/locators"
       },
       "read": {
        "$ref": "#/$defs/read"
       },
       "then": {
        "$ref": "#/$defs/then"
       }
      },
      "additionalProperties": false
     }
    },
    "signals": {
     "type": "array",
     "maxItems": 64,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "when": {
        "$ref": "#/$defs/cel"
       },
       "reason": {
        "$ref": "#/$defs/reason"
       },
       "then": {
        "$ref": "#/$defs/then"
       },
       "sources": {
        "type": "string",
        "minLength": 1,
        "maxLength": 4096
       },
       "table": {
        "type": "object",
        "required": [
         "values",
         "entries",
         "otherwise"
        ],
        "properties": {
         "values": {
          "type": "string",
          "minLength": 1,
          "maxLength": 4096
         },
         "entries": {
          "type": "array",
          "maxItems": 128,
          "items": {
           "type": "object",
           "properties": {
            "match": {
             "type": "string",
             "minLength": 1,
             "maxLength": 500
            },
            "prefix": {
             "type": "string",
             "minLength": 1,
             "maxLength": 500
            },
            "reason": {
             "$ref": "#/$defs/reason"
            },
            "warning": {
             "$ref": "#/$defs/warningName"
            },
            "ignore": {
             "type": "string",
             "minLength": 1,
             "maxLength": 500
            }
           },
           "additionalProperties": false,
           "allOf": [
            {
             "x-postern-exactly-one": {
              "names": [
               "match",
               "prefix"
              ],
              "message": "an entry has exactly one of match, prefix"
             },
             "oneOf": [
              {
               "required": [
                "match"
               ]
              },
              {
               "required": [
                "prefix"
               ]
              }
             ]
            },
            {
             "x-postern-exactly-one": {
              "names": [
               "reason",
               "warning",
               "ignore"
              ],
              "message": "an entry gives exactly one of reason, warning, ignore"
             },
             "oneOf": [
              {
               "required": [
                "reason"
               ]
              },
              {
               "required": [
                "warning"
               ]
              },
              {
               "required": [
                "ignore"
               ]
              }
             ]
            }
           ]
          }
         },
         "otherwise": {
          "$ref": "#/$defs/reason"
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
          "when",
          "table"
         ],
         "message": "a signal has exactly one of when, table"
        },
        "oneOf": [
         {
          "required": [
           "when"
          ]
         },
         {
          "required": [
           "table"
          ]
         }
        ]
       }
      ]
     }
    },
    "notices": {
     "type": "array",
     "maxItems": 64,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name",
       "warning"
      ],
      "properties": {
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "when": {
        "$ref": "#/$defs/cel"
       },
       "warning": {
        "$ref": "#/$defs/warningName"
       },
       "fields": {
        "type": "array",
        "maxItems": 32,
        "items": {
         "type": "string",
         "minLength": 1,
         "maxLength": 63
        }
       }
      },
      "additionalProperties": false
     }
    },
    "totals": {
     "type": "array",
     "maxItems": 16,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name",
       "from"
      ],
      "properties": {
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "from": {
        "$ref": "#/$defs/locator"
       },
       "relation": {
        "$ref": "#/$defs/relation"
       },
       "relationFrom": {
        "$ref": "#/$defs/locator"
       },
       "relations": {
        "type": "object",
        "maxProperties": 16,
        "additionalProperties": {
         "$ref": "#/$defs/relation"
        }
       },
       "counts": {
        "type": "string",
        "enum": [
         "Items",
         "RawItems"
        ]
       },
       "read": {
        "$ref": "#/$defs/read"
       },
       "constant": {
        "type": "string",
        "enum": [
         "Required",
         "Ignored"
        ]
       },
       "when": {
        "$ref": "#/$defs/cel"
       },
       "onFewer": {
        "$ref": "#/$defs/mismatch"
       },
       "onMore": {
        "$ref": "#/$defs/mismatch"
       },
       "then": {
        "$ref": "#/$defs/then"
       }
      },
      "additionalProperties": false
     }
    },
    "reach": {
     "type": "object",
     "properties": {
      "total": {
       "type": "integer",
       "minimum": 1,
       "maximum": 1000000000
      },
      "offset": {
       "type": "integer",
       "minimum": 1,
       "maximum": 1000000000
      },
      "pageSize": {
       "type": "integer",
       "minimum": 1,
       "maximum": 1000000000
      },
      "items": {
       "type": "integer",
       "minimum": 1,
       "maximum": 1000000000
      },
      "fullPage": {
       "type": "string",
       "enum": [
        "Limit",
        "Ignore"
       ]
      },
      "probe": {
       "type": "object",
       "required": [
        "extra"
       ],
       "properties": {
        "extra": {
         "type": "integer",
         "minimum": 1,
         "maximum": 1000
        },
        "drop": {
         "type": "string",
         "enum": [
          "First",
          "Last"
         ]
        }
       },
       "additionalProperties": false
      },
      "narrowBy": {
       "type": "array",
       "maxItems": 16,
       "items": {
        "type": "string",
        "minLength": 1,
        "maxLength": 63
       }
      }
     },
     "additionalProperties": false
    },
    "cursor": {
     "type": "object",
     "properties": {
      "ttl": {
       "type": "string",
       "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
       "maxLength": 12
      },
      "onExpiry": {
       "type": "string",
       "enum": [
        "Fail",
        "ContinueInconsistent"
       ]
      },
      "resumeFrom": {
       "$ref": "#/$defs/locator"
      },
      "afterMutation": {
       "type": "string",
       "enum": [
        "Keep",
        "Invalidate"
       ]
      }
     },
     "additionalProperties": false
    },
    "job": {
     "type": "object",
     "properties": {
      "interval": {
       "type": "string",
       "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
       "maxLength": 12
      },
      "rowsWhilePending": {
       "type": "string",
       "enum": [
        "Return",
        "Discard"
       ]
      }
     },
     "additionalProperties": false
    },
    "rateLimit": {
     "type": "object",
     "properties": {
      "wait": {
       "type": "string",
       "enum": [
        "Never",
        "WithinBudget"
       ]
      },
      "waits": {
       "type": "array",
       "maxItems": 8,
       "items": {
        "type": "object",
        "properties": {
         "from": {
          "$ref": "#/$defs/locator"
         },
         "cel": {
          "$ref": "#/$defs/cel"
         },
         "fixed": {
          "$ref": "#/$defs/duration"
         },
         "unit": {
          "$ref": "#/$defs/timeUnit"
         }
        },
        "additionalProperties": false,
        "allOf": [
         {
          "x-postern-exactly-one": {
           "names": [
            "from",
            "cel",
            "fixed"
           ],
           "message": "a wait is exactly one of from, cel, fixed"
          },
          "oneOf": [
           {
            "required": [
             "from"
            ]
           },
           {
            "required": [
             "cel"
            ]
           },
           {
            "required": [
             "fixed"
            ]
           }
          ]
         }
        ]
       }
      },
      "floor": {
       "type": "string",
       "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
       "maxLength": 12
      },
      "ceiling": {
       "type": "string",
       "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
       "maxLength": 12
      }
     },
     "additionalProperties": false
    },
    "freshness": {
     "type": "array",
     "maxItems": 8,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name",
       "from",
       "unit",
       "maxAge",
       "warning"
      ],
      "properties": {
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "from": {
        "$ref": "#/$defs/locator"
       },
       "unit": {
        "$ref": "#/$defs/timeUnit"
       },
       "maxAge": {
        "$ref": "#/$defs/duration"
       },
       "warning": {
        "$ref": "#/$defs/warningName"
       }
      },
      "additionalProperties": false
     }
    },
    "scope": {
     "type": "object",
     "properties": {
      "resource": {
       "type": "string",
       "minLength": 1,
       "maxLength": 500
      },
      "visibility": {
       "type": "string",
       "minLength": 1,
       "maxLength": 500
      },
      "exclusions": {
       "type": "array",
       "maxItems": 32,
       "items": {
        "type": "string",
        "minLength": 1,
        "maxLength": 500
       }
      },
      "absence": {
       "type": "string",
       "enum": [
        "Provable",
        "Never"
       ]
      },
      "floor": {
       "type": "integer",
       "minimum": 0,
       "maximum": 1000000000
      }
     },
     "additionalProperties": false
    },
    "sources": {
     "type": "object",
     "required": [
      "list"
     ],
     "properties": {
      "select": {
       "type": "string",
       "pattern": "^\\$\\(args\\.",
       "maxLength": 200
      },
      "list": {
       "type": "array",
       "minItems": 1,
       "maxItems": 64,
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "pattern": "^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$",
          "minLength": 1,
          "maxLength": 63
         },
         "values": {
          "type": "object"
         },
         "credential": {
          "$ref": "#/$defs/objectName"
         },
         "origin": {
          "type": "string",
          "pattern": "^https?://[^/]+$",
          "maxLength": 300
         }
        },
        "additionalProperties": false
       }
      }
     },
     "additionalProperties": false
    },
    "limits": {
     "type": "object",
     "properties": {
      "pages": {
       "type": "integer",
       "minimum": 1,
       "maximum": 10000
      },
      "items": {
       "type": "integer",
       "minimum": 1,
       "maximum": 1000000
      },
      "bytes": {
       "type": "string",
       "pattern": "^[1-9][0-9]{0,11}(Ki|Mi|Gi)?$",
       "maxLength": 14
      },
      "time": {
       "type": "string",
       "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
       "maxLength": 12
      },
      "pageSize": {
       "type": "integer",
       "minimum": 1,
       "maximum": 100000
      },
      "parallel": {
       "type": "integer",
       "minimum": 1,
       "maximum": 16
      }
     },
     "additionalProperties": false
    },
    "onIncomplete": {
     "type": "string",
     "enum": [
      "Return",
      "Fail"
     ]
    }
   },
   "additionalProperties": false
  },
  "conditions": {
   "type": "array",
   "maxItems": 32,
   "x-kubernetes-list-map-keys": [
    "type"
   ],
   "items": {
    "type": "object",
    "required": [
     "type",
     "status",
     "lastTransitionTime",
     "reason",
     "message"
    ],
    "properties": {
     "type": {
      "type": "string",
      "pattern": "^[A-Z][A-Za-z0-9]*$",
      "maxLength": 63
     },
     "status": {
      "type": "string",
      "enum": [
       "True",
       "False",
       "Unknown"
      ]
     },
     "observedGeneration": {
      "type": "integer",
      "minimum": 0
     },
     "lastTransitionTime": {
      "type": "string",
      "format": "date-time"
     },
     "reason": {
      "type": "string",
      "pattern": "^[A-Z][A-Za-z0-9]*$",
      "minLength": 1,
      "maxLength": 128
     },
     "message": {
      "type": "string",
      "maxLength": 32768
     }
    },
    "additionalProperties": false
   }
  },
  "duration": {
   "type": "string",
   "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
   "maxLength": 12
  },
  "headers": {
   "type": "object",
   "maxProperties": 32,
   "additionalProperties": {
    "type": "string",
    "maxLength": 4096
   }
  },
  "locator": {
   "type": "object",
   "properties": {
    "body": {
     "$ref": "#/$defs/path"
    },
    "header": {
     "type": "string",
     "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
     "maxLength": 127
    },
    "link": {
     "type": "string",
     "minLength": 1,
     "maxLength": 200
    },
    "where": {
     "type": "object",
     "maxProperties": 8,
     "additionalProperties": {
      "type": "string",
      "maxLength": 200
     }
    },
    "query": {
     "type": "string",
     "minLength": 1,
     "maxLength": 200
    },
    "lastItem": {
     "$ref": "#/$defs/path"
    }
   },
   "additionalProperties": false,
   "allOf": [
    {
     "x-postern-exactly-one": {
      "names": [
       "body",
       "header",
       "link",
       "lastItem"
      ],
      "message": "a place is exactly one of body, header, link, lastItem"
     },
     "oneOf": [
      {
       "required": [
        "body"
       ]
      },
      {
       "required": [
        "header"
       ]
      },
      {
       "required": [
        "link"
       ]
      },
      {
       "required": [
        "lastItem"
       ]
      }
     ]
    }
   ]
  },
  "locators": {
   "type": "array",
   "minItems": 1,
   "maxItems": 8,
   "items": {
    "$ref": "#/$defs/locator"
   }
  },
  "method": {
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
  "mismatch": {
   "type": "string",
   "enum": [
    "MORE_PAGES_AVAILABLE",
    "RESULT_LIMIT_REACHED",
    "TIME_BUDGET_EXCEEDED",
    "SOURCE_UNAVAILABLE",
    "VISIBILITY_RESTRICTED",
    "REMOTE_RATE_LIMITED",
    "CURSOR_EXPIRED",
    "SNAPSHOT_CHANGED",
    "COMPLETENESS_UNPROVEN"
   ]
  },
  "objectName": {
   "type": "string",
   "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
   "minLength": 1,
   "maxLength": 63
  },
  "owner": {
   "type": "string",
   "minLength": 1,
   "maxLength": 100
  },
  "partName": {
   "type": "string",
   "pattern": "^[a-zA-Z][a-zA-Z0-9_]{0,62}$",
   "maxLength": 63
  },
  "path": {
   "type": "string",
   "pattern": "^/",
   "maxLength": 500
  },
  "presence": {
   "type": "string",
   "enum": [
    "Required",
    "Optional"
   ]
  },
  "query": {
   "type": "object",
   "maxProperties": 64,
   "additionalProperties": {
    "type": "string",
    "maxLength": 8192
   }
  },
  "read": {
   "type": "string",
   "enum": [
    "EveryPage",
    "FirstPage",
    "LastPage"
   ]
  },
  "reason": {
   "type": "string",
   "enum": [
    "MORE_PAGES_AVAILABLE",
    "RESULT_LIMIT_REACHED",
    "TIME_BUDGET_EXCEEDED",
    "SOURCE_UNAVAILABLE",
    "VISIBILITY_RESTRICTED",
    "REMOTE_RATE_LIMITED",
    "CURSOR_EXPIRED",
    "SNAPSHOT_CHANGED",
    "COMPLETENESS_UNPROVEN"
   ]
  },
  "relation": {
   "type": "string",
   "enum": [
    "Exact",
    "LowerBound",
    "Estimate",
    "Scanned"
   ]
  },
  "request": {
   "type": "object",
   "required": [
    "method",
    "url"
   ],
   "properties": {
    "method": {
     "$ref": "#/$defs/method"
    },
    "url": {
     "$ref": "#/$defs/url"
    },
    "query": {
     "$ref": "#/$defs/query"
    },
    "headers": {
     "$ref": "#/$defs/headers"
    },
    "body": {
     "$ref": "#/$defs/body"
    }
   },
   "additionalProperties": false
  },
  "result": {
   "type": "object",
   "properties": {
    "decoder": {
     "type": "string",
     "enum": [
      "JSON",
      "XML",
      "NDJSON",
      "Lines"
     ]
    },
    "contentTypes": {
     "type": "array",
     "maxItems": 16,
     "items": {
      "type": "string",
      "pattern": "^(none|[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+)$",
      "maxLength": 127
     },
     "uniqueItems": true
    },
    "lines": {
     "type": "object",
     "properties": {
      "match": {
       "type": "string",
       "maxLength": 500
      },
      "unmatched": {
       "type": "string",
       "enum": [
        "Keep",
        "Drop",
        "Error"
       ]
      }
     },
     "additionalProperties": false
    },
    "outcomes": {
     "type": "array",
     "maxItems": 64,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name",
       "when",
       "is"
      ],
      "properties": {
       "name": {
        "$ref": "#/$defs/ruleName"
       },
       "when": {
        "$ref": "#/$defs/cel"
       },
       "is": {
        "type": "string",
        "enum": [
         "Ok",
         "Empty",
         "Pending",
         "RateLimited",
         "CursorExpired",
         "Denied",
         "NotFound",
         "CapReached",
         "TimedOut",
         "Unavailable",
         "Rejected"
        ]
       },
       "then": {
        "$ref": "#/$defs/then"
       }
      },
      "additionalProperties": false
     }
    },
    "items": {
     "type": "array",
     "minItems": 1,
     "maxItems": 8,
     "items": {
      "$ref": "#/$defs/path"
     }
    },
    "object": {
     "type": "string",
     "pattern": "^/",
     "maxLength": 500
    },
    "absentItems": {
     "type": "string",
     "enum": [
      "Error",
      "Empty"
     ]
    },
    "as": {
     "type": "string",
     "pattern": "^[a-z][a-z0-9_]{0,62}$",
     "maxLength": 63
    },
    "id": {
     "type": "array",
     "minItems": 1,
     "maxItems": 4,
     "items": {
      "$ref": "#/$defs/path"
     }
    },
    "where": {
     "type": "string",
     "minLength": 1,
     "maxLength": 4096
    },
    "order": {
     "type": "object",
     "required": [
      "by",
      "direction",
      "compare"
     ],
     "properties": {
      "by": {
       "$ref": "#/$defs/path"
      },
      "direction": {
       "type": "string",
       "enum": [
        "Ascending",
        "Descending"
       ]
      },
      "compare": {
       "type": "string",
       "enum": [
        "Text",
        "Number",
        "Time"
       ]
      }
     },
     "additionalProperties": false
    },
    "fields": {
     "type": "array",
     "minItems": 1,
     "maxItems": 128,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": 63
       },
       "path": {
        "type": "string",
        "pattern": "^/",
        "maxLength": 500
       },
       "presence": {
        "type": "string",
        "enum": [
         "Required",
         "Optional",
         "Restricted"
        ]
       }
      },
      "additionalProperties": false
     }
    },
    "allFields": {
     "$ref": "#/$defs/allFields"
    },
    "aggregate": {
     "type": "array",
     "minItems": 1,
     "maxItems": 16,
     "x-kubernetes-list-map-keys": [
      "name"
     ],
     "items": {
      "type": "object",
      "required": [
       "name",
       "op"
      ],
      "properties": {
       "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": 63
       },
       "op": {
        "type": "string",
        "enum": [
         "Count",
         "Sum",
         "Min",
         "Max"
        ]
       },
       "path": {
        "$ref": "#/$defs/path"
       }
      },
      "additionalProperties": false
     }
    }
   },
   "additionalProperties": false
  },
  "resultCel": {
   "type": "string",
   "minLength": 1,
   "maxLength": 4096
  },
  "ruleName": {
   "type": "string",
   "pattern": "^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$",
   "minLength": 1,
   "maxLength": 63
  },
  "summary": {
   "type": "string",
   "minLength": 1,
   "maxLength": 500
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
  "then": {
   "type": "string",
   "enum": [
    "None",
    "NextCursor",
    "RetryAfter",
    "NarrowQuery",
    "RetryWithDeadline",
    "Restart"
   ]
  },
  "timeUnit": {
   "type": "string",
   "enum": [
    "RetryAfter",
    "Seconds",
    "Millis",
    "EpochSeconds",
    "EpochMillis",
    "HTTPDate",
    "RateLimitParameter"
   ]
  },
  "url": {
   "type": "string",
   "pattern": "^https?://",
   "minLength": 8,
   "maxLength": 2048
  },
  "warningName": {
   "type": "string",
   "minLength": 1,
   "maxLength": 63
  }
 }
};
