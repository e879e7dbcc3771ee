/* Causal attention, out[i] = sum over j <= i of softmax(q[i] k[j] / 8)[j] v[j], for each head: q, k, v, out [heads, seq, 64] */
void attention(float *out, const float *q, const float *k, const float *v, int heads, int seq);
