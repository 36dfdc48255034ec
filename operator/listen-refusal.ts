import { StartRefused } from './start-refused.ts';

/** For a port that cannot be taken: who holds it is for a person to find out. */
export function refuseToListen(setting: string, port: number): (fault: unknown) => never {
  return (fault) => {
    if (!(fault instanceof Error) || !('code' in fault) || typeof fault.code !== 'string') throw fault;
    const why = fault.code === 'EADDRINUSE' ? 'another process listens there' : fault.code;
    throw new StartRefused(`It cannot listen on port ${port}: ${why}.`, `Set ${setting} to another port; 0 takes a free one.`, fault);
  };
}
