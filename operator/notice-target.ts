/** Where the outgoing webhook goes, from settings and mounted files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NoticeTarget } from '#operator/approval/notices.ts';
import type { OperatorSettings } from './settings.ts';
import { StartRefused } from './start-refused.ts';

/** Undefined for none. Throws StartRefused for a file that is there and cannot be read. */
export function noticeTarget({ approvalWebhook: url, approvalWebhookFolder: folder }: OperatorSettings): NoticeTarget | undefined {
  if (url === '') return undefined;
  const ca = contentOf(join(folder, 'ca.crt'));
  const key = contentOf(join(folder, 'hmac.key'));
  return { url, ...(ca === undefined ? {} : { ca: ca.toString('utf8') }), ...(key === undefined ? {} : { key }) };
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new StartRefused(`${file} cannot be read`, 'Mend the Secret of the approval webhook, or leave it out.', error);
  }
}
