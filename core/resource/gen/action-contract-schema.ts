// Generated from crds/ by `npm run generate`. Do not edit.
/** Strict JSON Schema of `spec` of ActionContract. */
export const actionContractSpecSchema: Record<string, unknown> = {
 "type": "object",
 "description": "What the action may do, where it goes, and what its answers mean.",
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
   "description": "The name the agent calls: metadata.name with `_` for `-`. Example: `list_open_issues`.",
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
   "description": "What a call can do. `Read` changes nothing; `Write` changes something that can be changed back; `Destructive` cannot be undone and needs an approval of every call unless said otherwise.",
   "enum": [
    "Read",
    "Write",
    "Destructive"
   ]
  },
  "readOnlyBecause": {
   "type": "string",
   "description": "Required for `effect: Read` with another method than GET or HEAD: why the request changes nothing. Example: `_search reads; the point in time it opens expires after two minutes`.",
   "minLength": 1,
   "maxLength": 500
  },
  "callers": {
   "type": "array",
   "description": "Who may call. Example: `[{serviceAccount: triage-bot}]`.",
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
      "description": "A ServiceAccount of this namespace; every pod that runs as it may call. Example: `triage-bot`.",
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
   "description": "Every CredentialBinding this contract may use. Whoever writes the contract needs the verb `use` on each; a binding named elsewhere in the contract and not here is an error. Example: `[github-triage]`.",
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
   "type": "object",
   "description": "Closed JSON Schema of what the agent may pass. Small dialect: type, properties, required, additionalProperties: false (on every object), enum, const, pattern (anchored), format, minLength, maxLength, minimum, maximum, items, minItems, maxItems, uniqueItems, description, title, examples, and `x-postern-text: {render: plain | markdown | jiraWiki, mentions: refuse | escape, lines: 5}` for free text. Example: `{type: object, additionalProperties: false, required: [repository], properties: {repository: {type: string, enum: [storefront, billing]}}}`."
  },
  "resolve": {
   "type": "object",
   "description": "Fixed values behind the labels of an enum argument: argument -> label -> member -> value, used as `$(resolve.argument.member)`. The labels must equal the enum. The agent never sees the values. Example: `{repository: {storefront: {owner: acme, repo: storefront}}}`.",
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
   "type": "object",
   "description": "Fixed values used as `$(constants.name)`. They are never searched for slots, so big literal texts (a GraphQL query) belong here. Example: `{projection: \"sk, total_cents, #s\"}`."
  },
  "http": {
   "type": "object",
   "description": "The request. Literal text and slots: `$(args.x)`, `$(resolve.x.y)`, `$(next.x)`, `$(constants.x)`, `$(limits.pageSize)`. Example: `{credential: github-triage, method: GET, url: \"https://api.github.com/user\"}`.",
   "required": [
    "credential",
    "method",
    "url"
   ],
   "properties": {
    "credential": {
     "type": "string",
     "description": "The binding whose credential is attached: a name listed in spec.credentials, or one `$(resolve.argument.member)` all of whose values are. Example: `github-triage`.",
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
     "description": "A request sent once before the first page; its values feed `$(open.name)`. Example: `{method: POST, url: \"https://es.example.com/logs/_pit\", query: {keep_alive: 2m}, values: {pit: /id}}`.",
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
       "description": "What is kept of the answer: name -> path. Example: `{pit: /id}`.",
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
   "description": "The command. Example: `{credential: web-logs, host: \"$(resolve.host.address)\", argv: [tail, -n, \"501\", --, \"$(resolve.service.log)\"], shell: Posix}`.",
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
     "description": "A literal host, or one slot whose every value resolves to a fixed host. Example: `$(resolve.host.address)`.",
     "minLength": 1,
     "maxLength": 253
    },
    "argv": {
     "type": "array",
     "description": "The command as words; the first is a literal program, each other word one literal or one slot. Example: `[systemctl, restart, --, \"$(resolve.service.unit)\"]`.",
     "minItems": 1,
     "maxItems": 64,
     "items": {
      "type": "string",
      "maxLength": 4096
     }
    },
    "shell": {
     "type": "string",
     "description": "`Posix`: words are quoted for a POSIX shell. `ForcedCommand`: the server runs its own command and reads JSON on stdin.",
     "enum": [
      "Posix",
      "ForcedCommand"
     ]
    },
    "stdin": {
     "description": "JSON given on standard input. Example: `{service: \"$(args.service)\"}`."
    }
   },
   "additionalProperties": false
  },
  "prepare": {
   "type": "object",
   "description": "A read of the target before the card is made: the card shows before -> after, and Confirm refuses if the before has changed. Example: `{contract: get-deployment, arguments: {name: \"$(args.deployment)\"}, fields: [{name: replicas, after: \"$(args.replicas)\"}]}`.",
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
     "description": "Values shown on the card.",
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
        "description": "Label on the card. Example: `replicas`.",
        "minLength": 1,
        "maxLength": 63
       },
       "path": {
        "$ref": "#/$defs/path"
       },
       "after": {
        "type": "string",
        "description": "What it will be. Example: `$(args.replicas)`.",
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
   "description": "One request per element of a list argument, each with its own record, recheck and outcome. Example: `{argument: /project_ids, order: Sequential, onFailure: Stop}`.",
   "required": [
    "argument",
    "order",
    "onFailure"
   ],
   "properties": {
    "argument": {
     "$ref": "#/$defs/path"
    },
    "order": {
     "type": "string",
     "description": "One after the other.",
     "enum": [
      "Sequential"
     ]
    },
    "onFailure": {
     "type": "string",
     "description": "What happens to the rest when one fails.",
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
   "description": "The read that must precede. Example: `{from: list-inactive-projects, ids: /project_ids, claim: Listed, maxAge: 10m, match: [{argument: inactive_since, evidenceArgument: inactive_since}]}`.",
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
     "$ref": "#/$defs/path"
    },
    "claim": {
     "type": "string",
     "description": "`Listed`: every id was in the answer. `Absent`: none was, and absence was provable.",
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
     "description": "What an incomplete answer leads to. Default `Refuse`.",
     "enum": [
      "Refuse",
      "RequestReview"
     ]
    },
    "match": {
     "type": "array",
     "description": "For every argument of the read a constant or an argument of this action; else the agent would choose the question.",
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
       "constant": {
        "description": "A fixed value. Example: `all`."
       }
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
     "description": "`Checked` (default): a Declared consistency is not enough.",
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
   "description": "Reads again right before the effect; false stops it. Example: `{contract: get-payment, arguments: {payment: \"$(args.payment)\"}, expect: \"result.payment.status == 'succeeded'\"}`.",
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
     "$ref": "#/$defs/cel"
    }
   },
   "additionalProperties": false
  },
  "idempotency": {
   "type": "object",
   "description": "What sending twice does. Example: `{mode: Key, header: idempotency-key, ttl: 24h}`.",
   "required": [
    "mode"
   ],
   "properties": {
    "mode": {
     "type": "string",
     "description": "`None`: twice is twice. `Natural`: twice is once. `Key`: the remote keeps a key for ttl.",
     "enum": [
      "None",
      "Natural",
      "Key"
     ]
    },
    "header": {
     "type": "string",
     "description": "Header that carries the key. Example: `idempotency-key`.",
     "minLength": 1,
     "maxLength": 127
    },
    "body": {
     "$ref": "#/$defs/path"
    },
    "form": {
     "type": "string",
     "description": "Form field that carries the key. Example: `idempotency_key`.",
     "minLength": 1,
     "maxLength": 127
    },
    "ttl": {
     "$ref": "#/$defs/duration"
    },
    "settle": {
     "type": "object",
     "description": "The read that decides an unknown outcome. Example: `{contract: find-deploy-run, after: 60s, arguments: {operation: \"$(operation.id)\"}, done: \"size(result.runs) == 1\", notDone: \"size(result.runs) == 0\"}`.",
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
       "$ref": "#/$defs/cel"
      },
      "notDone": {
       "$ref": "#/$defs/cel"
      }
     },
     "additionalProperties": false
    }
   },
   "additionalProperties": false
  },
  "approval": {
   "type": "object",
   "description": "Whether a person must agree. Example: `{mode: EachCall, expiresAfter: 15m, reason: /reason}`.",
   "required": [
    "mode"
   ],
   "properties": {
    "mode": {
     "type": "string",
     "description": "`Session`: once for a stated range of calls; only for Read and idempotent Write.",
     "enum": [
      "None",
      "Session",
      "EachCall"
     ]
    },
    "calls": {
     "type": "integer",
     "description": "Calls one Session approval covers. Example: `20`.",
     "minimum": 1,
     "maximum": 10000
    },
    "vary": {
     "type": "array",
     "description": "Arguments that may differ between them. Example: `[/reason]`.",
     "maxItems": 16,
     "items": {
      "$ref": "#/$defs/path"
     }
    },
    "expiresAfter": {
     "$ref": "#/$defs/duration"
    },
    "reason": {
     "$ref": "#/$defs/path"
    },
    "because": {
     "$ref": "#/$defs/because"
    }
   },
   "additionalProperties": false
  },
  "warnings": {
   "type": "array",
   "description": "Every warning this contract or its preset may raise, each with someone who answers for it and a day it must be renewed by. Example: `[{name: index-lag, code: STALE_INDEX, owner: tools, expires: \"2027-06-30\", message: The index lags behind writes}]`.",
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
      "$ref": "#/$defs/ruleName"
     },
     "code": {
      "type": "string",
      "description": "What kind of care. Example: `STALE_INDEX`.",
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
      "description": "Day (UTC), at most a year ahead; past it the warning forbids evidence and its alert fires. Example: `\"2027-06-30\"`.",
      "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
      "maxLength": 10
     },
     "message": {
      "type": "string",
      "description": "What an agent should know. Example: `Replies in threads are not part of this list`.",
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
   "description": "Every field of the remote passes. Shown in status. Example: `{because: a public catalogue without personal data}`.",
   "required": [
    "because"
   ],
   "properties": {
    "because": {
     "type": "string",
     "description": "Why nothing needs to be kept back.",
     "minLength": 1,
     "maxLength": 500
    }
   },
   "additionalProperties": false
  },
  "argumentName": {
   "type": "string",
   "description": "Name of an argument. Example: `inactive_since`.",
   "minLength": 1,
   "maxLength": 63
  },
  "because": {
   "type": "string",
   "description": "The owner's reason, in a sentence. Example: `id is immutable and the cursor is exclusive`.",
   "minLength": 1,
   "maxLength": 500
  },
  "body": {
   "type": "object",
   "description": "Request body, in exactly one form. Example: `{json: {ref: main, inputs: {version: \"$(args.version)\"}}}`.",
   "properties": {
    "json": {
     "description": "Any JSON; a string that is one slot keeps the JSON type of its value, and an absent optional argument leaves its member out. Example: `{replicas: \"$(args.replicas)\"}`."
    },
    "form": {
     "type": "object",
     "description": "Fields of application/x-www-form-urlencoded. Example: `{amount: \"$(args.amount)\"}`.",
     "maxProperties": 64,
     "additionalProperties": {
      "type": "string",
      "maxLength": 8192
     }
    },
    "text": {
     "type": "string",
     "description": "Text from constants and inert slots only, never free words. Example: `$(constants.query)`.",
     "maxLength": 65536
    },
    "contentType": {
     "type": "string",
     "description": "Media type sent; by default the one of the form. Example: `application/json-patch+json`.",
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
   "type": "object",
   "description": "Arguments of the read, with slots. Example: `{project_id: \"$(each)\"}`."
  },
  "cel": {
   "type": "string",
   "description": "CEL over status, headers, body, exit, stderr, args, sent, page, now. Example: `status == 410`.",
   "minLength": 1,
   "maxLength": 4096
  },
  "close": {
   "type": "object",
   "description": "A request sent after the walk, best effort; skipped while a cursor is handed out. Example: `{method: DELETE, url: \"https://es.example.com/_pit\", body: {json: {id: \"$(next.pit)\"}}}`.",
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
   "description": "How the remote says that this is not all. Example: `{preset: github-rest-v1, limits: {pages: 10}, scope: {...}}`.",
   "properties": {
    "preset": {
     "type": "string",
     "description": "A ContractPreset merged under this contract; its digest is part of the revision. Example: `github-rest-v1`.",
     "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
     "maxLength": 63
    },
    "without": {
     "type": "array",
     "description": "Rules of the preset that are dropped; shown as condition PresetWeakened. Example: `[{list: signals, name: anonymous, because: a public repository}]`.",
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
        "description": "The named list the rule stands in.",
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
        "description": "Why it may be dropped.",
        "minLength": 1,
        "maxLength": 500
       }
      },
      "additionalProperties": false
     }
    },
    "paging": {
     "type": "object",
     "description": "How the next page is asked for. A list says one of next, follow, counter or `mode: SingleResponse`. Example: `{next: [{name: page, from: [{link: next, query: page}]}], end: {nextIs: [Absent]}}`.",
     "properties": {
      "mode": {
       "type": "string",
       "description": "`SingleResponse`: this source has no second page. Default `Walk`.",
       "enum": [
        "Walk",
        "SingleResponse"
       ]
      },
      "next": {
       "type": "array",
       "description": "Values taken from a page and sent back through `$(next.name)`. Example: `[{name: continue, from: [{body: /metadata/continue}]}]`.",
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
          "description": "Value for the first page. Example: `$(open.pit)`.",
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
       "description": "Follow a whole URL: same origin, own path or one of `paths`, other query values unchanged. Prefer next with `{link: next, query: after}`. Example: `{from: [{body: \"/@odata.nextLink\"}], vary: [\"$skiptoken\"]}`.",
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
         "description": "Other literal paths the URL may have. Example: `[/v2/items]`.",
         "maxItems": 8,
         "items": {
          "type": "string",
          "pattern": "^/",
          "maxLength": 500
         }
        },
        "vary": {
         "type": "array",
         "description": "Query parameters that may differ. Example: `[after]`.",
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
       "description": "A number we count up ourselves, as `$(next.name)`. Example: `{name: offset, unit: Item, start: 0, stride: Returned}`.",
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
         "description": "An offset of items or a page number.",
         "enum": [
          "Item",
          "Page"
         ]
        },
        "start": {
         "type": "integer",
         "description": "Number of the first item or page. Default 0.",
         "minimum": 0,
         "maximum": 1000000
        },
        "stride": {
         "type": "string",
         "description": "By how much an Item counter grows: items that came, the page size asked for, or a number the answer echoes. Default `Returned`.",
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
       "description": "What ends a walk; nothing else does. All but pageIs are two-sided: if two disagree, the answer is COMPLETENESS_UNPROVEN. Example: `{nextIs: [Absent, EmptyString]}`.",
       "properties": {
        "nextIs": {
         "type": "array",
         "description": "Forms of a next value that mean the end. Example: `[Absent]`.",
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
         "description": "A value that says the end, compared as text. Example: `{from: {body: /has_more}, equals: \"false\"}`.",
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
           "description": "Its text at the end. Example: `\"false\"`.",
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
         "description": "The number of pages, or the list of them. Example: `{from: {body: /total_pages}, as: Number}`.",
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
           "description": "A number or the length of a list.",
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
         "description": "A last record that says all came. Example: `{from: {body: /summary}}`.",
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
         "description": "A rule of totals; the walk ends when so many came. Example: `total`.",
         "minLength": 1,
         "maxLength": 63
        },
        "pageIs": {
         "type": "array",
         "description": "Pages that end the walk: an empty one, or one shorter than asked for. One-sided. Example: `[Empty]`.",
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
       "description": "`Leftovers`: the next value is what a batch left undone, and stopping there is a rate limit. Default `Pages`.",
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
     "description": "Why several pages belong together. `SnapshotKey`: equal keys on every page. `SnapshotHandle`: read under the handle of http.open. `Keyset`: rows sorted by result.order, checked. `Declared`: the owner answers for it, and the answer says so. `SinglePage` (default): more than one page is COMPLETENESS_UNPROVEN. Example: `{mode: SnapshotKey, equal: [{body: /metadata/resourceVersion}]}`.",
     "required": [
      "mode"
     ],
     "properties": {
      "mode": {
       "type": "string",
       "description": "The basis.",
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
     "description": "Values without which an answer proves nothing. Example: `[{name: total, anyOf: [{body: /total_count}]}]`.",
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
     "description": "The answer is usable but not all; once seen, it stays for the walk. Example: `[{name: timed-out, when: \"body.timed_out\", reason: TIME_BUDGET_EXCEEDED}]`.",
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
        "description": "CEL that gives the names of the sources concerned. Example: `body.failed_regions`.",
        "minLength": 1,
        "maxLength": 4096
       },
       "table": {
        "type": "object",
        "description": "Codes of the remote, each with its meaning. Example: `{values: \"body.warnings.map(w, w.code)\", entries: [...], otherwise: COMPLETENESS_UNPROVEN}`.",
        "required": [
         "values",
         "entries",
         "otherwise"
        ],
        "properties": {
         "values": {
          "type": "string",
          "description": "CEL that gives a list of texts. Example: `body.warnings`.",
          "minLength": 1,
          "maxLength": 4096
         },
         "entries": {
          "type": "array",
          "description": "What each text means; the first that fits wins.",
          "maxItems": 128,
          "items": {
           "type": "object",
           "properties": {
            "match": {
             "type": "string",
             "description": "The whole text. Example: `partial`.",
             "minLength": 1,
             "maxLength": 500
            },
            "prefix": {
             "type": "string",
             "description": "How the text begins. Example: `PromQL info`.",
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
             "description": "Why the text says nothing about this result. Example: `advice on query style`.",
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
     "description": "All of it, but to be read with care. Without `when` it is always raised. Example: `[{name: index-lag, warning: index-lag}]`.",
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
        "description": "Fields of the result it concerns. Example: `[replies]`.",
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
     "description": "What the remote says there is, compared with what came. Example: `[{name: total, from: {body: /total_count}, relation: Exact}]`.",
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
        "description": "What the text at relationFrom means. Example: `{eq: Exact, gte: LowerBound}`.",
        "maxProperties": 16,
        "additionalProperties": {
         "$ref": "#/$defs/relation"
        }
       },
       "counts": {
        "type": "string",
        "description": "What it counts: kept items, or all that came. Default `RawItems`.",
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
        "description": "Whether the number must stay the same during the walk; a moving one is SNAPSHOT_CHANGED. Default `Ignored`.",
        "enum": [
         "Required",
         "Ignored"
        ]
       },
       "when": {
        "$ref": "#/$defs/cel"
       },
       "onFewer": {
        "$ref": "#/$defs/reason"
       },
       "onMore": {
        "$ref": "#/$defs/reason"
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
     "description": "What the remote can ever give; the walk stops before asking beyond it. Example: `{total: 1000, pageSize: 100, narrowBy: [text]}`.",
     "properties": {
      "total": {
       "$ref": "#/$defs/count"
      },
      "offset": {
       "$ref": "#/$defs/count"
      },
      "pageSize": {
       "$ref": "#/$defs/count"
      },
      "items": {
       "$ref": "#/$defs/count"
      },
      "fullPage": {
       "type": "string",
       "description": "`Limit`: a full page may hide more, so it counts as a limit reached (Loki, Tempo); `Ignore` (default): the remote states its end.",
       "enum": [
        "Limit",
        "Ignore"
       ]
      },
      "probe": {
       "type": "object",
       "description": "Ask for more than is kept, to see whether there is more. Example: `{extra: 1, drop: First}`.",
       "required": [
        "extra"
       ],
       "properties": {
        "extra": {
         "type": "integer",
         "description": "Items asked for beyond the limit.",
         "minimum": 1,
         "maximum": 1000
        },
        "drop": {
         "type": "string",
         "description": "Which end is dropped. Default `Last`.",
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
       "description": "Arguments that make the question smaller. Example: `[since, until]`.",
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
     "description": "Life of a cursor of the remote. Example: `{ttl: 5m, onExpiry: Fail}`.",
     "properties": {
      "ttl": {
       "$ref": "#/$defs/duration"
      },
      "onExpiry": {
       "type": "string",
       "description": "`Fail` (default) answers CURSOR_EXPIRED. `ContinueInconsistent` goes on and ends as SNAPSHOT_CHANGED.",
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
       "description": "Whether a write of this session voids the cursor. Default `Keep`.",
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
     "description": "Polls the main request while its outcome is Pending. Example: `{interval: 1s, rowsWhilePending: Return}`.",
     "properties": {
      "interval": {
       "$ref": "#/$defs/duration"
      },
      "rowsWhilePending": {
       "type": "string",
       "description": "What is done with rows of an unfinished job. Default `Discard`.",
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
     "description": "How long to wait when told to. Example: `{waits: [{from: {header: retry-after}, unit: RetryAfter}, {fixed: 60s}], ceiling: 1h}`.",
     "properties": {
      "wait": {
       "type": "string",
       "description": "`WithinBudget`: the sidecar waits itself if the call's time allows. Default `Never`.",
       "enum": [
        "Never",
        "WithinBudget"
       ]
      },
      "waits": {
       "type": "array",
       "description": "The first that is present wins.",
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
       "$ref": "#/$defs/duration"
      },
      "ceiling": {
       "$ref": "#/$defs/duration"
      }
     },
     "additionalProperties": false
    },
    "freshness": {
     "type": "array",
     "description": "The age of the data; older than maxAge raises the warning. Example: `[{name: cache, from: {header: age}, unit: Seconds, maxAge: 60s, warning: cached}]`.",
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
     "description": "What `all` means. Example: `{resource: open issues, visibility: issues the triage app may read, absence: Provable}`.",
     "properties": {
      "resource": {
       "type": "string",
       "description": "What is listed; slots of arguments are allowed. Example: `open issues of $(args.repository)`.",
       "minLength": 1,
       "maxLength": 500
      },
      "visibility": {
       "type": "string",
       "description": "What the credential can see at all. Example: `repositories the triage app may read`.",
       "minLength": 1,
       "maxLength": 500
      },
      "exclusions": {
       "type": "array",
       "description": "What is never in the answer. Example: `[pull requests]`.",
       "maxItems": 32,
       "items": {
        "type": "string",
        "minLength": 1,
        "maxLength": 500
       }
      },
      "absence": {
       "type": "string",
       "description": "Whether `not in a complete answer` proves `does not exist`. Default `Never`.",
       "enum": [
        "Provable",
        "Never"
       ]
      },
      "floor": {
       "type": "integer",
       "description": "Fewer items than this prove nothing and give COMPLETENESS_UNPROVEN.",
       "minimum": 0,
       "maximum": 1000000000
      }
     },
     "additionalProperties": false
    },
    "sources": {
     "type": "object",
     "description": "Fan-out: the same request to several places, each with its own walk and state. Example: `{list: [{name: eu, values: {namespace: shop-eu}}]}`.",
     "required": [
      "list"
     ],
     "properties": {
      "select": {
       "type": "string",
       "description": "One slot of a list argument that chooses sources; absent means all. Example: `$(args.namespaces)`.",
       "pattern": "^\\$\\(args\\.",
       "maxLength": 200
      },
      "list": {
       "type": "array",
       "description": "The sources.",
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
          "$ref": "#/$defs/ruleName"
         },
         "values": {
          "type": "object",
          "description": "Values used as `$(source.name)`. Example: `{namespace: checkout-prod}`."
         },
         "credential": {
          "$ref": "#/$defs/objectName"
         },
         "origin": {
          "type": "string",
          "description": "Literal origin that replaces the one of http.url. Example: `https://eu.example.com`.",
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
     "description": "The sidecar's own limits of one call, named in the answer when met. Example: `{pages: 10, items: 500, bytes: 8Mi, time: 20s, pageSize: 100}`.",
     "properties": {
      "pages": {
       "type": "integer",
       "description": "Answers read. Default 10.",
       "minimum": 1,
       "maximum": 10000
      },
      "items": {
       "type": "integer",
       "description": "Rows returned. Default 1000.",
       "minimum": 1,
       "maximum": 1000000
      },
      "bytes": {
       "type": "string",
       "description": "Decoded bytes read. Default `8Mi`.",
       "pattern": "^[1-9][0-9]{0,11}(Ki|Mi|Gi)?$",
       "maxLength": 14
      },
      "time": {
       "$ref": "#/$defs/duration"
      },
      "pageSize": {
       "type": "integer",
       "description": "Items asked for per page, as `$(limits.pageSize)`.",
       "minimum": 1,
       "maximum": 100000
      },
      "parallel": {
       "type": "integer",
       "description": "Sources asked at the same time. Default 4.",
       "minimum": 1,
       "maximum": 16
      }
     },
     "additionalProperties": false
    },
    "onIncomplete": {
     "type": "string",
     "description": "`Return` (default) gives what came, marked. `Fail` answers RESULT_INCOMPLETE.",
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
   "description": "Accepted, Ready, Suspended, AllFieldsPass, PresetWeakened, SharedServiceAccount, WarningExpiring.",
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
  "count": {
   "type": "integer",
   "description": "A number of items. Example: `1000`.",
   "minimum": 1,
   "maximum": 1000000000
  },
  "duration": {
   "type": "string",
   "description": "A length of time: number and unit. Example: `20s`.",
   "pattern": "^(0|[1-9][0-9]{0,8})(ms|s|m|h)$",
   "maxLength": 12
  },
  "headers": {
   "type": "object",
   "description": "Request headers; names are literal. Those the sidecar makes itself (host, authorization, content-length, connection) are refused. Merged by key with the preset's. Example: `{accept: application/json}`.",
   "maxProperties": 32,
   "additionalProperties": {
    "type": "string",
    "maxLength": 4096
   }
  },
  "locator": {
   "type": "object",
   "description": "Where a value is read in an answer. Example: `{body: /metadata/continue}` or `{link: next, query: page}`.",
   "properties": {
    "body": {
     "$ref": "#/$defs/path"
    },
    "header": {
     "type": "string",
     "description": "Name of a response header. Example: `x-next-page`.",
     "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
     "maxLength": 127
    },
    "link": {
     "type": "string",
     "description": "Relation of a Link header (RFC 8288). Example: `next`.",
     "minLength": 1,
     "maxLength": 200
    },
    "where": {
     "type": "object",
     "description": "Attributes the link must have. Example: `{results: \"true\"}`.",
     "maxProperties": 8,
     "additionalProperties": {
      "type": "string",
      "maxLength": 200
     }
    },
    "query": {
     "type": "string",
     "description": "One parameter taken out of the link. Example: `after`.",
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
   "description": "Places to read the value; the first that is there wins.",
   "minItems": 1,
   "maxItems": 8,
   "items": {
    "$ref": "#/$defs/locator"
   }
  },
  "method": {
   "type": "string",
   "description": "HTTP method. Example: `GET`.",
   "enum": [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE"
   ]
  },
  "objectName": {
   "type": "string",
   "description": "Name of an object in this namespace. Example: `github-triage`.",
   "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
   "minLength": 1,
   "maxLength": 63
  },
  "owner": {
   "type": "string",
   "description": "The team that answers for this object; alerts name it. Example: `triage-team`.",
   "minLength": 1,
   "maxLength": 100
  },
  "partName": {
   "type": "string",
   "description": "Name used in `$(next.name)`. Example: `after`.",
   "pattern": "^[a-zA-Z][a-zA-Z0-9_]{0,62}$",
   "maxLength": 63
  },
  "path": {
   "type": "string",
   "description": "JSON Pointer, plus `*` (every element or map value) and `[type=Ready]` (the one element whose member equals); `/` alone is the whole document. Example: `/status/conditions/[type=Ready]/status`.",
   "pattern": "^/",
   "maxLength": 500
  },
  "presence": {
   "type": "string",
   "description": "Whether the value must be there while the walk goes on. Default `Required`.",
   "enum": [
    "Required",
    "Optional"
   ]
  },
  "query": {
   "type": "object",
   "description": "Query parameters. An absent optional argument leaves its parameter out; a list repeats it. Merged by key with the preset's. Example: `{state: open, since: \"$(args.since)\"}`.",
   "maxProperties": 64,
   "additionalProperties": {
    "type": "string",
    "maxLength": 8192
   }
  },
  "read": {
   "type": "string",
   "description": "On which pages. Default `EveryPage`.",
   "enum": [
    "EveryPage",
    "FirstPage",
    "LastPage"
   ]
  },
  "reason": {
   "type": "string",
   "description": "Why the answer is not all. Example: `SOURCE_UNAVAILABLE`.",
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
   "description": "How the number relates to the truth. `Scanned` counts what was looked at. Default `Exact`.",
   "enum": [
    "Exact",
    "LowerBound",
    "Estimate",
    "Scanned"
   ]
  },
  "request": {
   "type": "object",
   "description": "Replaces the request from page two on (scroll APIs). Example: `{method: POST, url: \"https://es.example.com/_search/scroll\"}`.",
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
   "description": "What comes back. Example: `{items: [/], as: issues, id: [/number], fields: [{name: number}, {name: title}]}`.",
   "properties": {
    "decoder": {
     "type": "string",
     "description": "How the body is read. Default `JSON`.",
     "enum": [
      "JSON",
      "XML",
      "NDJSON",
      "Lines"
     ]
    },
    "contentTypes": {
     "type": "array",
     "description": "Media types accepted; anything else is REMOTE_PROTOCOL, never an empty list. `none` accepts an answer without the header. Example: `[application/json]`.",
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
     "description": "How `decoder: Lines` makes rows. Example: `{match: \"^(?<time>[^ ]+) (?<message>.*)$\", unmatched: Keep}`.",
     "properties": {
      "match": {
       "type": "string",
       "description": "RE2 pattern; named groups become members; without it a row is `{line}`.",
       "maxLength": 500
      },
      "unmatched": {
       "type": "string",
       "description": "A line that does not match is kept as `{line}`, dropped, or an error. Default `Keep`.",
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
     "description": "What an answer is, decided before items are read; the first rule that is true wins, an expression that fails does not match. After them: 2xx Ok, 429 RateLimited, 403 and 404 Denied, 408 and 5xx Unavailable, else Rejected. Example: `[{name: quota, when: \"status == 403\", is: RateLimited}]`.",
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
        "description": "What it is. `Pending` polls again, `Empty` is a page without items, `CapReached` is the remote's own end of the walk.",
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
     "description": "Paths of the lists of one page, joined. Example: `[/items]`, or `[/]` where the body is the list.",
     "minItems": 1,
     "maxItems": 8,
     "items": {
      "$ref": "#/$defs/path"
     }
    },
    "object": {
     "$ref": "#/$defs/path"
    },
    "absentItems": {
     "type": "string",
     "description": "What an answer without the list means. `Error`: REMOTE_PROTOCOL. `Empty`: no items. Default `Error`.",
     "enum": [
      "Error",
      "Empty"
     ]
    },
    "as": {
     "type": "string",
     "description": "Member of `data` that holds the result. Example: `issues`. Default `items`.",
     "pattern": "^[a-z][a-z0-9_]{0,62}$",
     "maxLength": 63
    },
    "id": {
     "type": "array",
     "description": "Paths that identify an item; used against duplicates and for evidence. Example: `[/repository/full_name, /path]`.",
     "minItems": 1,
     "maxItems": 4,
     "items": {
      "$ref": "#/$defs/path"
     }
    },
    "where": {
     "type": "string",
     "description": "CEL over `item` (and args): which items are kept; totals and reach count all. Example: `!has(item.pull_request)`.",
     "minLength": 1,
     "maxLength": 4096
    },
    "order": {
     "type": "object",
     "description": "The order of the rows; checked on them where consistency is `Keyset`. Example: `{by: /number, direction: Ascending, compare: Number}`.",
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
       "description": "Direction of the order.",
       "enum": [
        "Ascending",
        "Descending"
       ]
      },
      "compare": {
       "type": "string",
       "description": "How two values are compared.",
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
     "description": "What of an item passes to the agent; nothing else does. Example: `[{name: number}, {name: author, path: /user/login}]`.",
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
        "description": "Member of the row. Example: `author`.",
        "minLength": 1,
        "maxLength": 63
       },
       "path": {
        "$ref": "#/$defs/path"
       },
       "presence": {
        "type": "string",
        "description": "`Required` (default): missing raises PARTIAL_FIELD_SET. `Optional`: may be missing. `Restricted`: missing means not permitted.",
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
     "description": "Values over all kept items instead of the rows; complete means computed over the whole scope. Example: `[{name: open, op: Count}]`.",
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
        "description": "Member of the result. Example: `open`.",
        "minLength": 1,
        "maxLength": 63
       },
       "op": {
        "type": "string",
        "description": "What is computed.",
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
  "ruleName": {
   "type": "string",
   "description": "Name of the rule; it stands in answers and test coverage. Example: `page-too-deep`.",
   "pattern": "^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$",
   "minLength": 1,
   "maxLength": 63
  },
  "summary": {
   "type": "string",
   "description": "The sentence a person reads on the card and an agent reads in the list of actions. Slots of arguments are allowed. Example: `List open issues of $(args.repository)`.",
   "minLength": 1,
   "maxLength": 500
  },
  "suspended": {
   "type": "object",
   "description": "Kill switch: while it stands, every call answers SESSION_SUSPENDED. Example: `{because: wrong totals since the upgrade}`.",
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
  "then": {
   "type": "string",
   "description": "The way on, where it is not the usual one of the reason. Example: `Restart`.",
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
   "description": "What the value is. Default `RetryAfter` (seconds or a date, RFC 9110).",
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
   "description": "Literal origin, then path segments that are each literal or one slot. No query here. `$(args.path...)` stands for several segments, each checked alone. Example: `https://api.github.com/repos/$(resolve.repository.owner)/issues`.",
   "pattern": "^https?://",
   "minLength": 8,
   "maxLength": 2048
  },
  "warningName": {
   "type": "string",
   "description": "A warning of spec.warnings. Example: `index-lag`.",
   "minLength": 1,
   "maxLength": 63
  }
 }
};
