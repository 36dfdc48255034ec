/**
 * Certificates of the operator: its CA, and the leaves each replica makes for itself. ECDSA P-256, because every TLS library knows it.
 * The one door to the certificate library, which needs the metadata functions loaded before it.
 */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { limits } from '#core/bounds/limits.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface KeyAndCertificate {
  readonly certificatePem: string;
  /** PKCS#8. */
  readonly keyPem: string;
}

/** A new CA of limits.authorityDays. It signs leaves only: no CA below it. */
export async function createAuthority(nowMs: number): Promise<KeyAndCertificate> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // A name of its own: while two are trusted, a verifier that looks issuers up by name must not take the wrong one.
    name: [{ CN: [`Postern operator CA ${randomBytes(4).toString('hex')}`] }],
    notBefore: new Date(nowMs - limits.certificateBackdateMs),
    notAfter: new Date(nowMs + limits.authorityDays * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: certificate.toString('pem'), keyPem: await pemOf(keys.privateKey) };
}

const DAY_MS = 24 * 3_600_000;

export interface Leaf extends KeyAndCertificate {
  readonly notAfterMs: number;
}

/** A serving certificate for DNS names, of limits.leafMs or the rest of the CA's own life. */
export async function issueLeaf(authority: KeyAndCertificate, names: readonly string[], nowMs: number): Promise<Leaf> {
  const issuer = new X509Certificate(authority.certificatePem);
  const keys = await generateKeys();
  const notAfterMs = Math.min(nowMs + limits.leafMs, issuer.notAfter.getTime());
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ CN: ['postern-operator'] }],
    issuer: issuer.subjectName,
    notBefore: new Date(Math.min(nowMs - limits.certificateBackdateMs, notAfterMs - 1)),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(authority.keyPem),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await AuthorityKeyIdentifierExtension.create(issuer),
      new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
    ],
  });
  return { certificatePem: certificate.toString('pem'), keyPem: await pemOf(keys.privateKey), notAfterMs };
}

/** Whether the private key belongs to the public one. */
export function isKeyOf(privateKey: KeyObject, publicKey: KeyObject): boolean {
  return createPublicKey(privateKey).equals(publicKey);
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function signingKeyOf(keyPem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Positive and without leading zeros, which some readers refuse. */
function serialNumber(): string {
  return `4${randomBytes(10).toString('hex').slice(1)}`;
}
