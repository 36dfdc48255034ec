/** Signs of life of a long call. */
import { visibleText } from '#core/encoding/visible-text.ts';
import type { Progress } from '#proto/postern/v1/action_pb.ts';

/** One line on a terminal, rewritten in place; nothing when standard error is not one. */
export function progressLine() {
  let shown = false;
  return {
    show({ pages, items, source, waitingMs }: Progress) {
      if (!process.stderr.isTTY) return;
      const where = source === '' ? '' : ` from ${visibleText(source)}`;
      const waiting = waitingMs > 0 ? `, waiting ${Math.ceil(waitingMs / 1000)} s` : '';
      process.stderr.write(`\r\u001b[K${items} items, ${pages} pages${where}${waiting} ...`);
      shown = true;
    },
    clear() {
      if (shown) process.stderr.write('\r\u001b[K');
    },
  };
}
