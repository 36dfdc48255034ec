/** Limits of commands over SSH; part of `limits`. */
export const SSH_LIMITS = {
  /** A command line as the remote shell reads it: Linux gives one string to `sh -c` and takes at most 128 KiB of it. */
  sshCommandBytesMax: 64 * 1024,
  /** From dialling the first host to the last one taking our key: a banner, an identification or a key exchange that drips ends here (failure case SSH-23). */
  sshConnectMsMax: 20_000,
  /** A host that answers no keepalive for sshKeepaliveMs times sshKeepalivesMax is gone (failure case SSH-10). */
  sshKeepaliveMs: 5_000,
  sshKeepalivesMax: 3,
  /** Kept of a command's error stream; what is longer is read and dropped, else the command would wait for room (failure case SSH-13). */
  sshStderrBytesMax: 16 * 1024,
  /** Hosts on the way, the last one included. */
  sshHostsMax: 3,
  /** Channels a host may ask to open before it is cut off; each is refused (failure case SSH-21). */
  sshForeignChannelsMax: 8,
} as const;
