/**
 * JavaScript for a page that makes calls: `voice` is a stream that beeps while `speak(true)` holds, `dial(url, headers)` opens a call
 * and does not handle its end, `hear(peer)` returns how loud the other side is.
 */
export const audioProgram = `{
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency: 300 });
  const volume = new GainNode(context, { gain: 0 });
  const microphone = context.createMediaStreamDestination();
  tone.connect(volume).connect(microphone);
  tone.start();
  globalThis.voice = microphone.stream;
  globalThis.speak = (isLoud) => { volume.gain.value = isLoud ? 0.5 : 0; };

  /** The root mean square of what is heard now. */
  globalThis.listenTo = (stream) => {
    // Chromium feeds a remote stream to Web Audio only while an element plays it.
    const player = new Audio();
    player.srcObject = stream;
    player.play().catch(() => undefined);
    const analyser = new AnalyserNode(context, { fftSize: 1024 });
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(1024);
    return () => {
      analyser.getFloatTimeDomainData(samples);
      return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
    };
  };

  /** Packets of audio that have come in. */
  globalThis.packets = async (peer) => {
    for (const { type, packetsReceived } of (await peer.getStats()).values())
      if (type === 'inbound-rtp') return packetsReceived;
    return 0;
  };

  globalThis.dial = async (url, { headers = {}, edit = (sdp) => sdp, hasChannel = true } = {}) => {
    const peer = new RTCPeerConnection();
    const call = { peer, events: [], loudness: () => 0, channelClosed: false, transportClosed: false };
    for (const track of voice.getTracks()) peer.addTrack(track, voice);
    if (hasChannel) {
      call.channel = peer.createDataChannel('oai-events');
      call.channel.onmessage = ({ data }) => call.events.push(JSON.parse(data));
      call.channel.onclose = () => { call.channelClosed = true; };
    }
    peer.ontrack = ({ track }) => { call.loudness = listenTo(new MediaStream([track])); };
    await peer.setLocalDescription();
    const transport = peer.getSenders()[0].transport;
    transport.onstatechange = () => { if (transport.state === 'closed') call.transportClosed = true; };
    const reply = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', ...headers },
      body: edit(peer.localDescription.sdp),
    });
    call.answer = await reply.text();
    call.status = reply.status;
    call.location = reply.headers.get('Location');
    if (reply.ok) await peer.setRemoteDescription({ type: 'answer', sdp: call.answer });
    return call;
  };
}`;
