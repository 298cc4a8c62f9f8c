import { statfs } from 'node:fs/promises';

/** Free space of one file system as the kubelet counts it: what an unprivileged user can still allocate. */
export interface FilesystemRoom {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly inodesFree: number;
  readonly inodes: number;
}

/** statfs(2) of the file system that contains `path`; asynchronous, because a hung disk must not stop the loop. */
export async function readFilesystem(path: string): Promise<FilesystemRoom> {
  const room = await statfs(path);
  return {
    availableBytes: room.bavail * room.bsize,
    capacityBytes: room.blocks * room.bsize,
    inodesFree: room.ffree,
    inodes: room.files,
  };
}
