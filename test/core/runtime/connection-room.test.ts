import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { test } from 'node:test';
import { ConnectionRoom } from '#core/runtime/connection-room.ts';

class Peer extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;
  readonly remotePort: number;
  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function rig(max: number) {
  const server = new EventEmitter();
  const room = new ConnectionRoom(max);
  room.watch(server as Server);
  let port = 0;
  const enter = (address: string) => {
    port += 1;
    const peer = new Peer(address, port);
    server.emit('connection', peer as unknown as Socket);
    return peer;
  };
  return { room, enter };
}

test('connection room: a peer that holds everything loses a connection for each of the others, and they lose none', () => {
  const { room, enter } = rig(8);
  const silent = Array.from({ length: 8 }, () => enter('10.0.0.66'));
  const servers = Array.from({ length: 3 }, () => enter('10.0.0.1'));
  const more = Array.from({ length: 100 }, () => enter('10.0.0.66'));
  assert.equal(room.size, 8);
  assert.ok(servers.every(({ destroyed }) => !destroyed));
  assert.equal([...silent, ...more].filter(({ destroyed }) => !destroyed).length, 5);
});

test('connection room: the oldest without a request goes first, and one with a request only where there is no other', () => {
  const { room, enter } = rig(2);
  const [asking, idle] = [enter('10.0.0.1'), enter('10.0.0.1')];
  room.begins(asking);
  const third = enter('10.0.0.1');
  assert.deepEqual([asking.destroyed, idle.destroyed], [false, true]);
  room.begins(third);
  enter('10.0.0.2');
  assert.deepEqual([asking.destroyed, third.destroyed], [true, false]);
  room.ends(third);
});

test('connection room: who leaves makes room', () => {
  const { room, enter } = rig(2);
  const first = enter('10.0.0.1');
  first.destroy();
  const others = [enter('10.0.0.1'), enter('10.0.0.2')];
  assert.equal(room.size, 2);
  assert.ok(others.every(({ destroyed }) => !destroyed));
});
