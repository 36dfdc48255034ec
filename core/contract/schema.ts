/** placeholder signature, see the compiler owner */
export interface ArgumentsSchema {
  readonly type: 'object';
}
