/**
 * The path of a URL as segments, each one literal or one slot. Encoders judge a whole segment; a slot inside of one could join
 * with its neighbours to `..` (failure cases HTTP-05, HTTP-27, HTTP-28).
 */
import type { Template } from './compiled.ts';
import { type Draft, rememberTemplate, type Stage } from './draft.ts';
import type { SpecNode } from './spec-node.ts';

/** RFC 3986 pchar without percent-encoding: text that needs encoding goes through a slot. */
const LITERAL = /^[A-Za-z0-9\-._~!$&'()*+,;=:@]*$/;
/** Also with path parameters: `..;x` is a dot segment to some servers. */
const DOTS = /^(?:\.|%2e){1,2}(?:;.*)?$/i;

/** `path` is empty or starts with `/`; a path of `/` has no segment, a final `/` an empty last one. */
export function segmentsAt(draft: Draft, node: SpecNode, path: string, stage: Stage): readonly Template[] {
  const written = path === '' || path === '/' ? [] : path.slice(1).split('/');
  return written.map((segment, index) => segmentAt(draft, node, segment, index === written.length - 1, stage));
}

function segmentAt(draft: Draft, node: SpecNode, segment: string, last: boolean, stage: Stage): Template {
  const template = rememberTemplate(draft, node, segment, 'segment', stage);
  if (segment === '') {
    if (!last) node.problem('url-empty-segment', 'The path has an empty segment.');
    return [''];
  }
  if (template.length > 1) {
    node.problem('url-partial-segment', `The segment ${JSON.stringify(segment)} is a slot and other text.`);
    return template;
  }
  const [part] = template;
  if (typeof part !== 'string') return template;
  if (DOTS.test(part)) node.problem('url-dot-segment', `The segment ${JSON.stringify(part)} is a dot segment.`);
  else if (!LITERAL.test(part))
    node.problem('url-character', `The segment ${JSON.stringify(part)} has a character that is not literal in a path.`);
  return template;
}
