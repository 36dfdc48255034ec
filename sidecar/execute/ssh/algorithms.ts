/**
 * What we offer a host, and nothing else: neither a contract nor a binding can add to it (failure case SSH-05).
 *
 * - No SHA-1, no CBC, no DSA, no RC4.
 * - No chacha20-poly1305 and no encrypt-then-mac: against a host without strict key exchange they are what the Terrapin attack cuts
 *   (failure case SSH-04). GCM and CTR with a plain MAC are not; strict key exchange is offered beside them all the same.
 * - No compression: it is one more parser of hostile bytes.
 */
import type { Algorithms } from 'ssh2';

export const ALGORITHMS = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
    'diffie-hellman-group14-sha256',
  ],
  serverHostKey: ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'rsa-sha2-512', 'rsa-sha2-256'],
  cipher: ['aes256-gcm@openssh.com', 'aes128-gcm@openssh.com', 'aes256-ctr', 'aes192-ctr', 'aes128-ctr'],
  hmac: ['hmac-sha2-512', 'hmac-sha2-256'],
  compress: ['none'],
} as const satisfies Algorithms;
