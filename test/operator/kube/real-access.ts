/** Access of an administrator to the API server of the tests. */
import type { ApiAccess } from '#operator/kube/api-access.ts';

export function accessTo({
  url,
  caPem,
  adminToken,
}: {
  readonly url: string;
  readonly caPem: string;
  readonly adminToken: string;
}): ApiAccess {
  return {
    server: url,
    tls: { ca: caPem, rejectUnauthorized: true },
    namespace: 'default',
    headers: async () => ({ authorization: `Bearer ${adminToken}` }),
  };
}
