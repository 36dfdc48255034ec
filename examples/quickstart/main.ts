/**
 * `npm run quickstart`: the whole of Postern on one machine in a few seconds. Starts an inventory API over TLS and a
 * sidecar, then plays the agent: real gRPC calls, real answers.
 *
 *   npm run quickstart                     run and leave nothing behind
 *   npm run quickstart -- --keep DIR       keep contracts, credentials, logs and the audit in DIR, to look around
 *   npm run quickstart -- --keep DIR --stay   and keep the inventory API until Ctrl-C, to call by hand
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { connect } from '#core/runtime/grpc-client.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { checkAudit, makeAuditor } from './audit.ts';
import { type InventoryApi, startInventoryApi } from './inventory-api.ts';
import { say } from './say.ts';
import { startSidecarProcess } from './sidecar-process.ts';
import { playStory } from './story.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { keep: { type: 'string' }, stay: { type: 'boolean' } } });
  const stay = values.stay === true;
  if (stay && values.keep === undefined) {
    say.line('--stay needs --keep DIR: what calls the inventory API is kept there.');
    process.exitCode = 2;
    return;
  }
  const token = randomBytes(24).toString('base64url');
  const authority = await createAuthority('Quickstart CA');
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'inventory', hosts: ['127.0.0.1'] });
  await using api = await startInventoryApi({ key: keyPem, certificate: certificatePem, token, nowMs: Date.now() });
  using workspace = makeWorkspace({ keep: values.keep, port: api.port, token, caPem: authority.caPem });
  const recipient = await makeAuditor(workspace);
  await play(api, workspace, token, recipient);
  await checkAudit(workspace);
  if (values.keep === undefined) say.line('Nothing is left running. To go on by hand: npm run quickstart -- --keep DIR --stay');
  else say.goOn({ ...workspace, recipient }, stay);
  if (stay) await untilInterrupted();
}

/** The sidecar of the story ends with it, so that one started by hand finds its ports free. */
async function play(api: InventoryApi, workspace: Workspace, token: string, recipient: string): Promise<void> {
  await using sidecar = await startSidecarProcess({
    contracts: [workspace.contracts],
    credentials: workspace.credentials,
    logFile: workspace.logFile,
    flags: [
      '--log-level',
      'debug',
      '--state',
      workspace.state,
      '--approvals',
      workspace.approvals,
      '--audit-recipient',
      recipient,
      '--audit-store',
      `file://${workspace.archive}`,
    ],
  });
  const connection = connect(sidecar.address);
  try {
    await playStory({ client: connection.client(ActionService), api, sidecar, workspace, token });
  } finally {
    connection.close();
  }
}

function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

await main();
