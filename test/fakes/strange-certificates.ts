/** Certificates that a good authority never issues. Keys live in memory. */
import '#test/servers/reflect-metadata.ts';
import { createPublicKey, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { KeyAndCertificate } from '#test/servers/certificates.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

export interface Strange {
  readonly name: string;
  /** Signer; by itself when absent. */
  readonly by?: StrangeAuthority;
  readonly usage?: 'server' | 'client';
  readonly ca?: boolean;
}

export interface StrangeAuthority {
  readonly pem: string;
  readonly subject: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** A serving certificate with one name. */
export async function strangeLeaf({ name, by, usage = 'server', ca = false }: Strange): Promise<KeyAndCertificate> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const eku = usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth;
  const certificate = await X509CertificateGenerator.create({
    ...times(),
    subject: [{ CN: ['operator'] }],
    issuer: by?.subject ?? 'CN=operator',
    publicKey: keys.publicKey,
    signingKey: by?.keys.privateKey ?? keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(ca, undefined, true),
      new ExtendedKeyUsageExtension([eku]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { certificatePem: certificate.toString('pem'), keyPem: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n` };
}

/** An authority of the name of another one, with a key of its own. With `publicKeyOf` its certificate shows that one's key instead. */
export async function strangeAuthority({ publicKeyOf, namedAs }: { publicKeyOf?: string; namedAs?: string }): Promise<StrangeAuthority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const subject = namedAs === undefined ? 'CN=Postern test CA' : new X509Certificate(namedAs).subject;
  const certificate = await X509CertificateGenerator.create({
    ...times(),
    subject,
    issuer: subject,
    publicKey: publicKeyOf === undefined ? keys.publicKey : await publicKeyIn(publicKeyOf),
    signingKey: keys.privateKey,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return { pem: certificate.toString('pem'), subject, keys };
}

function publicKeyIn(pem: string): Promise<webcrypto.CryptoKey> {
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']);
}

function times() {
  return {
    serialNumber: '4a',
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
    signingAlgorithm: algorithm,
  };
}
