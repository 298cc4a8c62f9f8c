import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { component, type Component } from '#test/cluster/support/control-plane/component.ts';
import { markedEnvironment, markOf } from '#test/cluster/support/run/leftovers.ts';
import type { BuiltImage } from './build-image.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const MOUNT_POINTS = [ACCOUNT, '/host/proc', '/host/sys/fs/cgroup'];
/** Makes of the image what a container sees: read-only, with devices, processes, its account and the paths of the host. */
const AS_CONTAINER = `set -e
mount --bind "$0" "$0"
mount --rbind -o ro /sys/fs/cgroup "$0/host/sys/fs/cgroup"
mount --bind -o ro /proc "$0/host/proc"
mount --bind "$1" "$0${ACCOUNT}"
mount -o remount,bind,ro "$0"
mount --bind /dev "$0/dev"
mount -t proc proc "$0/proc"
shift
exec "$@"`;

/** A container of a manifest; `name` is that of its files in the run's folder. */
export interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** That of the image where absent. */
  readonly user?: string;
}

/** What the kubelet mounts for its account. */
export interface MountedAccount {
  readonly server: string;
  readonly ca: string;
  readonly token: string;
  readonly namespace: string;
}

/** Starts containers from an image. */
export type InImage = (container: Container, account?: MountedAccount) => Component;

/**
 * Processes with the unpacked image as their root, read-only, as the user of the container and without capabilities, in
 * namespaces of their own but that of the network. They end with the run in whose folder their logs are.
 */
export function processesIn({ root, config }: BuiltImage, runFolder: string): InImage {
  // As a container runtime does.
  for (const path of MOUNT_POINTS) mkdirSync(join(root, path), { recursive: true });
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', AS_CONTAINER, root];
  return ({ name, command, environment = {}, user = config.User }, account) => {
    const [uid = '', gid = uid] = user.split(':');
    const inside = ['unshare', `--root=${root}`, `--wd=${config.WorkingDir}`, `--setuid=${uid}`, `--setgid=${gid}`];
    const mounted = join(runFolder, `${name}-account`);
    const variables = { ...writeAccount(mounted, account), ...environment };
    const own = [markOf(runFolder), ...config.Env, ...Object.entries(variables).map((pair) => pair.join('='))];
    const args = [...namespaces, mounted, 'setpriv', '--no-new-privs', 'env', '-i', ...own, ...inside, ...command];
    return component('unshare', args, join(runFolder, `${name}.log`), markedEnvironment(runFolder));
  };
}

/** Writes what is mounted; returns the variables by which a pod finds the API server. */
function writeAccount(folder: string, account?: MountedAccount): Readonly<Record<string, string>> {
  mkdirSync(folder);
  if (account === undefined) return {};
  const { server, ca, token, namespace } = account;
  for (const [name, text] of Object.entries({ 'ca.crt': ca, token, namespace }))
    writeFileSync(join(folder, name), text);
  const { hostname, port } = new URL(server);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}
