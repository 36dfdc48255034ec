/**
 * What can be known about an expression before it runs: the names it uses are there, the functions exist,
 * patterns are literals, comprehensions do not nest deeper than limits.ruleNestingMax.
 */
import { limits } from '#core/bounds/limits.ts';

/** The part of cel.expr.Expr that is looked at here. */
export interface Ast {
  readonly id: bigint;
  readonly exprKind:
    | { readonly case: 'identExpr'; readonly value: { readonly name: string } }
    | {
        readonly case: 'constExpr';
        readonly value: { readonly constantKind: { readonly case?: string | undefined; readonly value?: unknown } };
      }
    | { readonly case: 'selectExpr'; readonly value: { readonly operand?: Ast | undefined } }
    | {
        readonly case: 'callExpr';
        readonly value: { readonly target?: Ast | undefined; readonly function: string; readonly args: readonly Ast[] };
      }
    | { readonly case: 'listExpr'; readonly value: { readonly elements: readonly Ast[] } }
    | { readonly case: 'structExpr'; readonly value: { readonly messageName: string; readonly entries: readonly AstEntry[] } }
    | { readonly case: 'comprehensionExpr'; readonly value: AstLoop }
    | { readonly case: undefined; readonly value?: undefined };
}

interface AstEntry {
  readonly keyKind: { readonly case?: string | undefined; readonly value?: unknown };
  readonly value?: Ast | undefined;
}

interface AstLoop {
  readonly iterVar: string;
  readonly iterVar2: string;
  readonly accuVar: string;
  readonly iterRange?: Ast | undefined;
  readonly accuInit?: Ast | undefined;
  readonly loopCondition?: Ast | undefined;
  readonly loopStep?: Ast | undefined;
  readonly result?: Ast | undefined;
}

export interface RuleFinding {
  readonly id: bigint;
  readonly message: string;
}

export interface KnownNames {
  isFunction(name: string): boolean;
  isPattern(text: string): boolean;
}

interface Scope {
  readonly variables: ReadonlySet<string>;
  readonly used: Set<string>;
  readonly known: KnownNames;
  readonly local: ReadonlySet<string>;
  readonly nesting: number;
}

/** Names CEL resolves to types, so `type(x) == string` is fine. */
const TYPE_NAMES = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type']);
/** Operators the planner handles itself and no function table lists. */
const PLANNED = new Set(['_[_]', '_?_:_', '_&&_', '_||_', '@not_strictly_false', '__not_strictly_false__']);

/** The first finding in reading order, or undefined; `used` collects the variables the expression names. */
export function checkRule(ast: Ast, variables: ReadonlySet<string>, used: Set<string>, known: KnownNames): RuleFinding | undefined {
  return check(ast, { variables, used, known, local: new Set(), nesting: 0 });
}

function check(ast: Ast, scope: Scope): RuleFinding | undefined {
  const { exprKind } = ast;
  switch (exprKind.case) {
    case 'identExpr':
      return checkName(ast.id, exprKind.value.name, scope);
    case 'selectExpr':
      return checkAll([exprKind.value.operand], scope);
    case 'callExpr':
      return checkCall(ast.id, exprKind.value, scope);
    case 'listExpr':
      return checkAll(exprKind.value.elements, scope);
    case 'structExpr':
      return checkStruct(ast.id, exprKind.value, scope);
    case 'comprehensionExpr':
      return checkLoop(ast.id, exprKind.value, scope);
    case 'constExpr':
      return undefined;
    default:
      return { id: ast.id, message: 'this is not an expression of CEL' };
  }
}

function checkAll(asts: readonly (Ast | undefined)[], scope: Scope): RuleFinding | undefined {
  for (const ast of asts) {
    const finding = ast === undefined ? undefined : check(ast, scope);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function checkName(id: bigint, name: string, scope: Scope): RuleFinding | undefined {
  if (scope.local.has(name) || TYPE_NAMES.has(name)) return undefined;
  if (!scope.variables.has(name)) return { id, message: `no variable "${name}" here; there are ${[...scope.variables].join(', ')}` };
  scope.used.add(name);
  return undefined;
}

function checkCall(
  id: bigint,
  call: { readonly target?: Ast | undefined; readonly function: string; readonly args: readonly Ast[] },
  scope: Scope,
): RuleFinding | undefined {
  if (!PLANNED.has(call.function) && !scope.known.isFunction(call.function)) return { id, message: `no function "${call.function}"` };
  if (call.function === 'matches') {
    const pattern = literalText(call.args.at(-1));
    // A pattern out of the answer would let the remote choose what the rule looks for, and what it costs.
    if (pattern === undefined) return { id, message: 'the pattern of matches is a text literal' };
    if (!scope.known.isPattern(pattern)) return { id, message: 'this is not a pattern of RE2' };
  }
  return checkAll([call.target, ...call.args], scope);
}

function literalText(ast: Ast | undefined): string | undefined {
  if (ast?.exprKind.case !== 'constExpr') return undefined;
  const { value } = ast.exprKind.value.constantKind;
  return typeof value === 'string' ? value : undefined;
}

function checkStruct(
  id: bigint,
  struct: { readonly messageName: string; readonly entries: readonly AstEntry[] },
  scope: Scope,
): RuleFinding | undefined {
  if (struct.messageName !== '') return { id, message: 'there are no message types here' };
  for (const entry of struct.entries) {
    const key = entry.keyKind.value;
    const finding = checkAll([isAst(key) ? key : undefined, entry.value], scope);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function isAst(value: unknown): value is Ast {
  return typeof value === 'object' && value !== null && 'exprKind' in value;
}

function checkLoop(id: bigint, loop: AstLoop, scope: Scope): RuleFinding | undefined {
  const nesting = scope.nesting + 1;
  if (nesting > limits.ruleNestingMax) return { id, message: `comprehensions nest at most ${limits.ruleNestingMax} deep` };
  const outside = checkAll([loop.iterRange, loop.accuInit], scope);
  if (outside !== undefined) return outside;
  const local = new Set([...scope.local, loop.iterVar, loop.iterVar2, loop.accuVar]);
  return checkAll([loop.loopCondition, loop.loopStep, loop.result], { ...scope, local, nesting });
}
