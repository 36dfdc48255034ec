/**
 * A certificate authority for tests: one root, serving certificates for given host names.
 * Keys are P-256 and live in memory only; whoever needs files writes them to its own folder.
 */
import './reflect-metadata.ts';
import { createPublicKey, generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hourMs = 3_600_000;

export interface KeyAndCertificate {
  readonly certificatePem: string;
  /** PKCS#8. */
  readonly keyPem: string;
}

export interface Subject {
  readonly commonName: string;
  /** Becomes the groups of a client certificate at a Kubernetes API server. */
  readonly organization?: string;
  /** DNS names and IP addresses of a serving certificate; none makes it a client certificate. */
  readonly hosts?: readonly string[];
  /** Milliseconds from now; negative gives one that has already expired. Default one day. */
  readonly lifetimeMs?: number;
}

export interface Authority {
  readonly caPem: string;
  issue(subject: Subject): Promise<KeyAndCertificate>;
}

export async function createAuthority(commonName = 'Postern test CA'): Promise<Authority> {
  const keys = await generateKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    notBefore: new Date(Date.now() - hourMs),
    notAfter: new Date(Date.now() + 48 * hourMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { caPem: root.toString('pem'), issue: (subject) => issue(root, keys.privateKey, subject) };
}

/** A key pair for signing tokens (RSA, as Kubernetes service accounts use by default). */
export function createSigningKey(): { readonly publicPem: string; readonly privatePem: string } {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    publicPem: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

async function issue(
  root: X509Certificate,
  signingKey: webcrypto.CryptoKey,
  { commonName, organization, hosts = [], lifetimeMs = 24 * hourMs }: Subject,
): Promise<KeyAndCertificate> {
  const keys = await generateKeys();
  const usage = hosts.length > 0 ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth;
  const names = hosts.map((host) => ({ type: isIP(host) ? 'ip' : 'dns', value: host }) as const);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ CN: [commonName] }, ...(organization ? [{ O: [organization] }] : [])],
    issuer: root.subjectName,
    // Before any notAfter, also that of an already expired certificate.
    notBefore: new Date(Date.now() + Math.min(lifetimeMs, 0) - hourMs),
    notAfter: new Date(Date.now() + lifetimeMs),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([usage]),
      await AuthorityKeyIdentifierExtension.create(root),
      ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return { certificatePem: certificate.toString('pem'), keyPem: await exportKey(keys.privateKey) };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  const lines = der.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

// The first byte keeps it positive and without leading zeros, which some readers refuse.
function serialNumber(): string {
  return `4${randomBytes(10).toString('hex').slice(1)}`;
}
