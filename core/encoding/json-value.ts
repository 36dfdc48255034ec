/** What a JSON text can say. Objects that came from outside have a null prototype (failure case JSON-03). */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };
