import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, fetch } from 'undici';
import { unavailable } from './build.ts';
import { startRegistry } from './registry.ts';
import { startTlsFront } from './tls-front.ts';

const skip = await unavailable('registry');
const tags = ['v1', 'v2', 'v3', 'v4', 'v5'];

test('registry: a real registry starts', { skip }, async (t) => {
  await using registry = await startRegistry();
  const digest = await registry.pushTags('team/app', tags);

  await t.test('registry: a tag list with n=2 pages by Link until all are read', async () => {
    const read: string[] = [];
    const pages: number[] = [];
    let next: string | undefined = '/v2/team/app/tags/list?n=2';
    while (next !== undefined) {
      const response = await fetch(`${registry.url}${next}`);
      const body = (await response.json()) as { tags: string[] };
      read.push(...body.tags);
      pages.push(body.tags.length);
      next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    assert.deepEqual(read, tags);
    assert.deepEqual(pages, [2, 2, 1]);
  });

  await t.test('registry: every tag names the manifest that was pushed', async () => {
    for (const tag of tags) {
      const response = await fetch(`${registry.url}/v2/team/app/manifests/${tag}`, {
        method: 'HEAD',
        headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
      });
      assert.equal(response.headers.get('docker-content-digest'), digest);
    }
  });

  await t.test('tls-front: serves the same bytes over https, to who trusts its authority only', async () => {
    await using front = await startTlsFront({ target: registry.url });
    const dispatcher = new Agent({ connect: { ca: front.caPem } });
    const response = await fetch(`${front.url}/v2/team/app/tags/list`, { dispatcher });
    assert.deepEqual(await response.json(), { name: 'team/app', tags });
    await dispatcher.close();
    await assert.rejects(fetch(`${front.url}/v2/`), (error: Error) => {
      assert.match(String((error.cause as NodeJS.ErrnoException).code), /UNABLE_TO_VERIFY|SELF_SIGNED/);
      return true;
    });
  });
});
