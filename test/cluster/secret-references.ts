/** Every way a pod of Kubernetes 1.36 can name a Secret, written by hand: the guards have a table of their own. */

export function volumeReferences(name: string): Readonly<Record<string, object>> {
  const secretRef = { name };
  return {
    'a secret volume': { secret: { secretName: name } },
    'a projected volume': { projected: { sources: [{ secret: { name } }] } },
    'a reference of csi': { csi: { driver: 'example.test', nodePublishSecretRef: { name } } },
    'a reference of azureFile': { azureFile: { shareName: 'share', secretName: name } },
    'a reference of cephfs': { cephfs: { monitors: ['a'], secretRef } },
    'a reference of flexVolume': { flexVolume: { driver: 'example.test/driver', secretRef } },
    'a reference of iscsi': { iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:a', lun: 0, secretRef } },
    'a reference of rbd': { rbd: { monitors: ['a'], image: 'image', secretRef } },
    'a reference of scaleIO': { scaleIO: { gateway: 'https://gateway', system: 'system', volumeName: 'volume', secretRef } },
    'a reference of storageos': { storageos: { volumeName: 'volume', secretRef } },
  };
}

export function containerReferences(name: string): Readonly<Record<string, object>> {
  return {
    'a variable': { env: [{ name: 'STOLEN', valueFrom: { secretKeyRef: { name, key: 'token' } } }] },
    'all variables': { envFrom: [{ secretRef: { name } }] },
  };
}
