/**
 * The server programs the tests run (and one that is none: age, the reference for what is sealed), and how each is built.
 * One Go module per family (`go/<family>/go.mod`), so that the dependencies of one program never
 * move the versions of another. A version is pinned in that go.mod and nowhere else.
 */
export type ProgramName =
  | 'age'
  | 'coredns'
  | 'etcd'
  | 'helm'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-proxy'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'prometheus'
  | 'promtool'
  | 'registry'
  | 'weed';

export interface Program {
  /** Folder below `go/` with the go.mod that pins it. */
  readonly family: 'age' | 'coredns' | 'helm' | 'kubernetes' | 'prometheus' | 'registry' | 'seaweedfs';
  /** Go package of its `main`, as in the `tool` line of that go.mod. */
  readonly package: string;
  /** Linker flags beyond `-s -w`. */
  readonly ldflags: string;
  /** Part of an envtest folder (`KUBEBUILDER_ASSETS`). */
  readonly asset: boolean;
  /** Cold build on two cores, seconds; told to whoever waits for it. */
  readonly coldBuildSeconds: number;
}

// Without these the API server calls itself v0.0.0 and clients that compare versions misbehave.
const kubernetesVersion = [
  '-X k8s.io/component-base/version.gitVersion=v1.36.3',
  '-X k8s.io/component-base/version.gitMajor=1',
  '-X k8s.io/component-base/version.gitMinor=36',
].join(' ');

export const programs: Readonly<Record<ProgramName, Program>> = {
  age: {
    family: 'age',
    package: 'filippo.io/age/cmd/age',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 20,
  },
  coredns: {
    family: 'coredns',
    package: 'github.com/coredns/coredns',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 70,
  },
  etcd: {
    family: 'kubernetes',
    package: 'go.etcd.io/etcd/server/v3',
    ldflags: '',
    asset: true,
    coldBuildSeconds: 60,
  },
  helm: {
    family: 'helm',
    package: 'helm.sh/helm/v4/cmd/helm',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 140,
  },
  'kube-apiserver': {
    family: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    ldflags: kubernetesVersion,
    asset: true,
    coldBuildSeconds: 180,
  },
  'kube-controller-manager': {
    family: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    ldflags: kubernetesVersion,
    asset: false,
    coldBuildSeconds: 40,
  },
  'kube-proxy': {
    family: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-proxy',
    ldflags: kubernetesVersion,
    asset: false,
    coldBuildSeconds: 20,
  },
  'kube-scheduler': {
    family: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-scheduler',
    ldflags: kubernetesVersion,
    asset: false,
    coldBuildSeconds: 15,
  },
  kubectl: {
    family: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kubectl',
    ldflags: kubernetesVersion,
    asset: true,
    coldBuildSeconds: 40,
  },
  kubelet: {
    family: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kubelet',
    ldflags: kubernetesVersion,
    asset: false,
    coldBuildSeconds: 40,
  },
  prometheus: {
    family: 'prometheus',
    package: 'github.com/prometheus/prometheus/cmd/prometheus',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 220,
  },
  promtool: {
    family: 'prometheus',
    package: 'github.com/prometheus/prometheus/cmd/promtool',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 30,
  },
  registry: {
    family: 'registry',
    package: 'github.com/distribution/distribution/v3/cmd/registry',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 60,
  },
  weed: {
    family: 'seaweedfs',
    package: 'github.com/seaweedfs/seaweedfs/weed',
    ldflags: '',
    asset: false,
    coldBuildSeconds: 180,
  },
};

export const programNames = Object.keys(programs) as readonly ProgramName[];

export function isProgramName(name: string): name is ProgramName {
  return Object.hasOwn(programs, name);
}
